package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.tutti.engine.control.PeerAddress;
import org.jspecify.annotations.Nullable;

/**
 * Notices during a long wait for a peer that the peer's host no longer answers, by
 * connecting once more to the port to which this rank has connected before. The heartbeat
 * shows the way between a rank and rank 0 only, and TCP repeats unacknowledged data for a
 * quarter of an hour; it sends no keep-alive meanwhile. TCP_USER_TIMEOUT would also end a
 * connection to a peer that computes and does not read. The peer's kernel answers for a
 * busy or stopped process. For one thread at a time.
 */
final class HostProbe {

	private static final int SHORTEST_MILLIS = 1_000;

	/** The kernel gives up to connect later. */
	private static final int LONGEST_MILLIS = 60_000;

	/** One attempt to connect, on a thread of its own. */
	private static final class Attempt {

		private volatile @Nullable IOException silence;

		void run(PeerAddress peer, int limitMillis) {
			try (Socket socket = new Socket()) {
				socket.connect(new InetSocketAddress(peer.host(), peer.port()), limitMillis);
			}
			catch (SocketTimeoutException | NoRouteToHostException ex) {
				this.silence = new IOException(peer.host() + ":" + peer.port() + " does not answer: " + ex.getMessage(),
						ex);
			}
			catch (IOException ex) {
				// The host answers. A process that has ended closes its connection.
			}
		}

	}

	private final PeerAddress peer;

	private final int limitMillis;

	private long seenBytes;

	private long sinceNanos;

	private long checkedNanos;

	private @Nullable Attempt attempt;

	/**
	 * @param peer where it accepts data connections
	 * @param heartbeat time after which a host that does not answer is lost
	 */
	HostProbe(PeerAddress peer, Duration heartbeat) {
		this.peer = peer;
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
		Attempt last = this.attempt;
		if (last != null && last.silence != null) {
			throw last.silence;
		}
		if (now - this.sinceNanos >= limitNanos) {
			this.sinceNanos = now;
			Attempt next = new Attempt();
			this.attempt = next;
			Thread.startVirtualThread(() -> next.run(this.peer, this.limitMillis));
		}
	}

}
