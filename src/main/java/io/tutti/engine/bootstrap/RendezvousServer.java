package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.BindException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.control.ControlMessage.Roster;
import io.tutti.engine.control.LocalAddress;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.spi.Deadline;

/**
 * The rendezvous of rank 0: listens and waits until all ranks have joined.
 */
final class RendezvousServer {

	/** The kernel caps it. */
	private static final int BACKLOG = 4096;

	/** The control thread ends the rendezvous at its deadline, unless it has died. */
	private static final long SLACK_SECONDS = 5;

	private final JoinRequest request;

	private final Endpoint listenAt;

	private final RendezvousFailure failure;

	RendezvousServer(JoinRequest request) {
		this.request = request;
		String bind = request.settings().bindAddress();
		this.listenAt = new Endpoint((bind != null) ? bind : request.assignment().masterAddress(),
				request.assignment().masterPort());
		this.failure = new RendezvousFailure(request, this.listenAt);
	}

	Membership join() {
		try {
			return await(open());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw this.failure.interrupted(null, ex);
		}
	}

	private ControlServer open() throws InterruptedException {
		RendezvousException first = null;
		for (InetAddress address : candidates()) {
			try {
				ControlServer server = open(address);
				warnOfLoopback(address);
				return server;
			}
			catch (RendezvousException ex) {
				if (ex.getCause() instanceof BindException && LocalAddress.isOfThisHost(address)) {
					// The port is taken: the other ranks would still connect to this
					// address.
					throw ex;
				}
				first = (first != null) ? first : ex;
			}
		}
		throw Objects.requireNonNull(first, "a name that is known has an address");
	}

	/** Addresses other than loopback come first: ranks of other hosts need one. */
	private List<InetAddress> candidates() throws InterruptedException {
		return resolve().stream().sorted(Comparator.comparing(InetAddress::isLoopbackAddress)).toList();
	}

	private ControlServer open(InetAddress address) throws InterruptedException {
		try {
			return listen(address);
		}
		catch (InterruptedIOException ex) {
			throw new InterruptedException(ex.getMessage());
		}
		catch (UnsupportedAddressTypeException ex) {
			throw this.failure.address("this host has no " + ((address instanceof Inet6Address) ? "IPv6" : "IPv4"),
					"Set tutti.rendezvous.bind-address to an address of this host, or to 0.0.0.0", ex);
		}
		catch (IOException ex) {
			throw this.failure.address(RendezvousFailure.words(ex), advice(address), ex);
		}
	}

	private ControlServer listen(InetAddress address) throws IOException {
		ServerSocketChannel listener = ConnectionAcceptor.listen(new InetSocketAddress(address, this.listenAt.port()),
				BACKLOG);
		try {
			return new ControlServer(listener, this.request, this.failure);
		}
		catch (IOException ex) {
			listener.close();
			throw ex;
		}
	}

	/** Some systems map a host's own name to an address such as 127.0.1.1. */
	private void warnOfLoopback(InetAddress address) {
		RankAssignment assignment = this.request.assignment();
		boolean othersElsewhere = assignment.localWorldSize() < assignment.worldSize();
		if (address.isLoopbackAddress() && othersElsewhere && this.listenAt.isName()) {
			this.request.events()
				.warn("rank 0 listens at " + this.listenAt.host() + ", which is " + Endpoint.text(address)
						+ " on this host: ranks of other hosts cannot reach it. Set tutti.rendezvous.bind-address to an"
						+ " address that they reach, or to 0.0.0.0, or correct the name in /etc/hosts");
		}
	}

	/** In a cluster a process may start before its own name is known. */
	private List<InetAddress> resolve() throws InterruptedException {
		WaitLogger waitLogger = new WaitLogger(this.request);
		ConnectAttempts attempts = new ConnectAttempts();
		while (true) {
			try {
				return this.listenAt.resolve(this.request.names(), this.request.deadline());
			}
			catch (UnknownHostException | SocketTimeoutException ex) {
				waitLogger
					.log(() -> "resolves " + this.listenAt + " to listen there (" + RendezvousFailure.words(ex) + ")");
				if (!attempts.pause(this.request.deadline())) {
					throw this.failure.address("the name is not known (" + RendezvousFailure.words(ex) + ")",
							"Check MASTER_ADDR", ex);
				}
			}
		}
	}

	private static String advice(InetAddress address) {
		if (LocalAddress.isOfThisHost(address)) {
			return "Another process has the port: choose a free one by --master-port or MASTER_PORT";
		}
		return "The address is not one of this host: run rank 0 on the host that MASTER_ADDR names, "
				+ "or set tutti.rendezvous.bind-address";
	}

	private Membership await(ControlServer server) throws InterruptedException {
		boolean joined = false;
		try {
			Roster roster = server.start()
				.get(Deadline.nanosOf(this.request.deadline().remaining().plusSeconds(SLACK_SECONDS)),
						TimeUnit.NANOSECONDS);
			joined = true;
			return this.request.membership(roster, server.control());
		}
		catch (ExecutionException | TimeoutException ex) {
			throw (ex.getCause() instanceof RendezvousException failed) ? failed
					: new IllegalStateException("rank 0: the rendezvous failed", ex);
		}
		finally {
			if (!joined) {
				server.control().close();
			}
		}
	}

}
