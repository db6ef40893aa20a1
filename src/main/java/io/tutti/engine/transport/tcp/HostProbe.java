package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.tutti.engine.spi.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * Notices during a long wait for a peer that the peer's host no longer answers, by
 * connecting once more to the port to which this rank has connected before and asking the
 * host itself. The heartbeat shows the way between a rank and rank 0 only, and TCP
 * repeats unacknowledged data for a quarter of an hour; it sends no keep-alive meanwhile.
 * TCP_USER_TIMEOUT would also end a connection to a peer that computes and does not read.
 * The peer's kernel answers for a busy or stopped process, and also while other clients
 * flood the port, whose queue then takes no connection. For one thread at a time.
 */
final class HostProbe {

	/** Whether a host answers at any port, as {@link InetAddress#isReachable(int)}. */
	@FunctionalInterface
	interface Reachability {

		boolean test(InetAddress host, int limitMillis) throws IOException;

	}

	private static final int SHORTEST_MILLIS = 1_000;

	/** The kernel gives up to connect later. */
	private static final int LONGEST_MILLIS = 60_000;

	private static final Duration PAUSE = Duration.ofMillis(100);

	private final InetSocketAddress peer;

	private final int limitMillis;

	private final Reachability reachability;

	private long seenBytes;

	private long sinceNanos;

	private long checkedNanos;

	/** Whether one of two questions was answered, once both have ended. */
	private @Nullable CompletableFuture<Boolean> attempt;

	/**
	 * @param peer where it accepts data connections, resolved
	 * @param heartbeat time after which a host that does not answer is lost
	 */
	HostProbe(InetSocketAddress peer, Duration heartbeat) {
		this(peer, heartbeat, InetAddress::isReachable);
	}

	/** As above, with another question to the host itself. */
	HostProbe(InetSocketAddress peer, Duration heartbeat, Reachability reachability) {
		this.peer = peer;
		this.reachability = reachability;
		this.limitMillis = Math.clamp(heartbeat.toMillis() / 2, SHORTEST_MILLIS, LONGEST_MILLIS);
	}

	/**
	 * The thread still waits for the peer. Call it every few milliseconds.
	 * @param receivedBytes bytes that have come from the peer until now
	 * @throws IOException if the peer's host does not answer
	 */
	void check(long receivedBytes) throws IOException {
		long now = System.nanoTime();
		long limitNanos = TimeUnit.MILLISECONDS.toNanos(this.limitMillis);
		if (receivedBytes != this.seenBytes || now - this.checkedNanos > limitNanos) {
			this.seenBytes = receivedBytes;
			this.sinceNanos = now;
			this.attempt = null;
		}
		this.checkedNanos = now;
		CompletableFuture<Boolean> last = this.attempt;
		boolean ended = last == null || last.isDone();
		if (last != null && last.state() == Future.State.SUCCESS && !last.resultNow()) {
			throw new IOException(this.peer.getHostString() + " has not answered for " + this.limitMillis
					+ " ms, neither at port " + this.peer.getPort() + " nor itself");
		}
		// An attempt without an answer ends a little later than its limit.
		if (now - this.sinceNanos >= (ended ? limitNanos : 2 * limitNanos)) {
			this.sinceNanos = now;
			// reaches() waits in native code and would hold a virtual thread's carrier.
			Executor platform = Thread.ofPlatform().name("tutti-probe").daemon()::start;
			this.attempt = CompletableFuture.supplyAsync(this::connects, Thread::startVirtualThread)
				.thenCombine(CompletableFuture.supplyAsync(this::reaches, platform), Boolean::logicalOr);
		}
	}

	/** A network that is unreachable for a moment is no answer: asks until the limit. */
	private boolean connects() {
		Deadline limit = Deadline.after(Duration.ofMillis(this.limitMillis));
		while (true) {
			try (SocketChannel channel = SocketChannel.open()) {
				if (connects(channel.socket(), (int) Math.max(1, limit.remaining().toMillis()))) {
					return true;
				}
			}
			catch (IOException ex) {
				// This host lacks descriptors, which says nothing of the peer's.
				return true;
			}
			if (limit.expired()) {
				return false;
			}
			LockSupport.parkNanos(PAUSE.toNanos());
		}
	}

	private boolean connects(Socket socket, int timeoutMillis) {
		try {
			socket.connect(this.peer, timeoutMillis);
			return true;
		}
		catch (ConnectException | BindException ex) {
			// The host answers: a process that has ended closes its port. Or this host
			// lacks ports, which says nothing either.
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

	private boolean reaches() {
		try {
			return this.reachability.test(this.peer.getAddress(), this.limitMillis);
		}
		catch (IOException ex) {
			// There is no way to the host.
			return false;
		}
	}

}
