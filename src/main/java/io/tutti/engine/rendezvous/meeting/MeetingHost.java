package io.tutti.engine.rendezvous.meeting;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.tutti.engine.Deadline;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.rendezvous.ControlEvents;
import io.tutti.engine.rendezvous.Membership;
import io.tutti.engine.rendezvous.RendezvousException;
import io.tutti.engine.rendezvous.RendezvousSettings;
import org.jspecify.annotations.Nullable;

/**
 * Rank 0's way through a meeting: listen, gather, form.
 */
final class MeetingHost {

	/** The kernel takes less where it must. */
	private static final int BACKLOG = 4096;

	/** Rank 0 gives up by its own clock; only a control thread that died takes longer. */
	private static final long SLACK_SECONDS = 5;

	private final RankAssignment assignment;

	private final RendezvousSettings settings;

	private final Deadline deadline;

	private final MeetingAddress listenAt;

	private final MeetingFailure failure;

	MeetingHost(RankAssignment assignment, RendezvousSettings settings, Deadline deadline) {
		this.assignment = assignment;
		this.settings = settings;
		this.deadline = deadline;
		String bind = settings.bindAddress();
		this.listenAt = new MeetingAddress((bind != null) ? bind : assignment.masterAddress(), assignment.masterPort());
		this.failure = new MeetingFailure(0, this.listenAt);
	}

	Membership meet(ControlEvents events) {
		try {
			ControlServer server = open(events);
			return await(server);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw this.failure.interrupted(this.deadline, ex);
		}
	}

	private ControlServer open(ControlEvents events) throws InterruptedException {
		InetAddress address = resolve();
		ServerSocketChannel listener = null;
		try {
			listener = ServerSocketChannel.open();
			listener.bind(new InetSocketAddress(address, this.listenAt.port()), BACKLOG);
			return new ControlServer(listener, this.assignment.worldSize(), this.settings, events, this.deadline,
					this.failure);
		}
		catch (UnsupportedAddressTypeException ex) {
			closeQuietly(listener);
			throw this.failure.address("this host has no " + ((address instanceof Inet6Address) ? "IPv6" : "IPv4"),
					"Set tutti.rendezvous.bind-address to an address of this host, or to 0.0.0.0", ex);
		}
		catch (IOException ex) {
			closeQuietly(listener);
			throw this.failure.address(MeetingFailure.words(ex), advice(address), ex);
		}
	}

	/** In a cluster a process may start before its own name is known. */
	private InetAddress resolve() throws InterruptedException {
		Backoff backoff = new Backoff();
		while (true) {
			try {
				return this.listenAt.resolve(this.deadline.remaining()).getFirst();
			}
			catch (UnknownHostException ex) {
				if (!backoff.sleep(this.deadline)) {
					throw this.failure.address("the name is not known (" + MeetingFailure.words(ex) + ")",
							"Check MASTER_ADDR", ex);
				}
			}
		}
	}

	private static String advice(InetAddress address) {
		if (isOfThisHost(address)) {
			return "Another process has the port: choose a free one by --master-port or MASTER_PORT";
		}
		return "The address is not one of this host: run rank 0 on the host that MASTER_ADDR names, "
				+ "or set tutti.rendezvous.bind-address";
	}

	private static boolean isOfThisHost(InetAddress address) {
		try {
			return address.isAnyLocalAddress() || address.isLoopbackAddress()
					|| NetworkInterface.getByInetAddress(address) != null;
		}
		catch (IOException ex) {
			return true;
		}
	}

	private Membership await(ControlServer server) throws InterruptedException {
		try {
			Formed formed = server.start()
				.get(this.deadline.remainingNanos() + TimeUnit.SECONDS.toNanos(SLACK_SECONDS), TimeUnit.NANOSECONDS);
			return new Membership(this.assignment, formed.generation(), formed.roster(), formed.sessionKey(),
					this.settings.conduct(), server.control());
		}
		catch (ExecutionException ex) {
			server.control().close();
			if (ex.getCause() instanceof RendezvousException failed) {
				throw failed;
			}
			throw new IllegalStateException("rank 0: the meeting failed", ex.getCause());
		}
		catch (InterruptedException | TimeoutException | IOException ex) {
			server.control().close();
			if (ex instanceof InterruptedException interrupted) {
				throw interrupted;
			}
			throw new IllegalStateException("rank 0: the meeting failed", ex);
		}
	}

	private static void closeQuietly(@Nullable ServerSocketChannel listener) {
		try {
			if (listener != null) {
				listener.close();
			}
		}
		catch (IOException ex) {
			// What matters has been said by the failure that led here.
		}
	}

}
