package io.tutti.engine.elastic;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.List;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.bootstrap.ConnectionAcceptor;
import io.tutti.engine.bootstrap.Handshake;
import io.tutti.engine.bootstrap.HandshakeException;
import io.tutti.engine.control.ControlMessage.FormationHello;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.RendezvousException.Reason;
import io.tutti.engine.elastic.ElasticSettings.Endpoint;
import io.tutti.engine.elastic.FormationMessage.Accepted;
import io.tutti.engine.elastic.FormationMessage.AskStatus;
import io.tutti.engine.elastic.FormationMessage.Join;
import io.tutti.engine.elastic.FormationMessage.Joined;
import io.tutti.engine.elastic.FormationMessage.Status;
import io.tutti.engine.elastic.FormationMessage.Wait;
import io.tutti.engine.tls.HandshakeDeadline;
import io.tutti.engine.tls.PeerSocket;

/**
 * The port at which a member answers for its whole life, and its connections to the ports
 * of the other members.
 */
final class FormationEndpoint implements AutoCloseable {

	/** What an attempt to ask a slot has shown. */
	sealed interface Answer {

		/** A process listens there. */
		record Alive(Status status) implements Answer {
		}

		/** No process listens there: the process that did has ended. */
		record Refused() implements Answer {
		}

		/** Nothing is known of the process. */
		record Silent() implements Answer {
		}

	}

	/**
	 * Time for a connection and its first answer. The kernel gives up a connection later,
	 * so that a failed one within this time was refused.
	 */
	private static final Duration LONGEST_PROBE = Duration.ofSeconds(10);

	private final LocalMember member;

	private final EngineSettings settings;

	private final List<Endpoint> endpoints;

	private final Handshake<FormationHello> handshake;

	private final ConnectionAcceptor acceptor;

	private FormationEndpoint(LocalMember member, EngineSettings settings, List<Endpoint> endpoints,
			ConnectionAcceptor acceptor) {
		this.member = member;
		this.settings = settings;
		this.endpoints = endpoints;
		this.handshake = Handshake.ofFormation(settings.token());
		this.acceptor = acceptor;
	}

	/**
	 * Listens at the endpoint of this member's slot.
	 * @throws RendezvousException if the address cannot be bound
	 */
	static FormationEndpoint open(LocalMember member, EngineSettings settings, List<Endpoint> endpoints) {
		int slot = member.self().slot();
		Endpoint own = endpoints.get(slot);
		String bind = settings.bindAddress();
		try {
			ServerSocketChannel server = ServerSocketChannel.open();
			try {
				server
					.bind(new InetSocketAddress(InetAddress.getByName((bind != null) ? bind : own.host()), own.port()));
			}
			catch (IOException | RuntimeException ex) {
				server.close();
				throw ex;
			}
			FormationEndpoint endpoint = new FormationEndpoint(member, settings, endpoints, new ConnectionAcceptor(
					server, ConnectionAcceptor.OTHER_CLIENTS + endpoints.size(), ConnectionAcceptor.HANDSHAKE_LIMIT));
			endpoint.acceptor.start("tutti-s" + slot + "-formation", settings.tls(), endpoint.handshake,
					endpoint::accept);
			return endpoint;
		}
		catch (IOException ex) {
			throw new RendezvousException(new RankAssignment(slot, endpoints.size(), 0, 1, own.host(), own.port()),
					Reason.ADDRESS,
					"cannot listen at its endpoint " + own + ": " + ex.getMessage()
							+ ". Set tutti.elastic.endpoints to a free port and an address of this"
							+ " host for each rank",
					List.of(), ex);
		}
	}

	/** Connects to the member in a slot. */
	FormationLink connect(int slot, Duration limit) throws IOException {
		Endpoint endpoint = this.endpoints.get(slot);
		Duration left = (limit.compareTo(LONGEST_PROBE) < 0) ? limit : LONGEST_PROBE;
		FormationHello hello = new FormationHello(this.settings.jobId(), this.member.self().slot(),
				this.member.self().id());
		IOException last = new UnknownHostException(endpoint.host());
		for (InetAddress address : InetAddress.getAllByName(endpoint.host())) {
			try {
				return new FormationLink(this.handshake.connect(new InetSocketAddress(address, endpoint.port()),
						this.settings.tls(), (local) -> hello, HandshakeDeadline.within(left)));
			}
			catch (IOException ex) {
				last = ex;
			}
		}
		throw last;
	}

	/** Asks a slot what its member does. */
	Answer ask(int slot, Duration limit) {
		try (FormationLink link = connect(slot, limit)) {
			link.send(new AskStatus());
			if (link.receive(HandshakeDeadline.within(limit)) instanceof Status status
					&& status.member().slot() == slot) {
				return new Answer.Alive(status);
			}
			return new Answer.Silent();
		}
		catch (ConnectException ex) {
			return new Answer.Refused();
		}
		catch (IOException | RuntimeException ex) {
			return new Answer.Silent();
		}
	}

	private void accept(PeerSocket socket, Handshake.Verified<FormationHello> client) throws IOException {
		FormationHello hello = client.hello();
		if (!hello.jobId().equals(this.settings.jobId())) {
			throw new HandshakeException(Reason.JOB, "the endpoint belongs to job " + this.settings.jobId() + ", not "
					+ hello.jobId() + "; give each job its own tutti.elastic.endpoints");
		}
		if (hello.rank() < 0 || hello.rank() >= this.endpoints.size()) {
			throw new HandshakeException(Reason.PROTOCOL,
					"a slot must be in 0.." + (this.endpoints.size() - 1) + ", got " + hello.rank());
		}
		Handshake.write(socket, client.welcome());
		if (this.acceptor.release(socket)) {
			Thread.startVirtualThread(() -> serve(new FormationLink(socket), hello));
		}
	}

	private void serve(FormationLink link, FormationHello hello) {
		try (link) {
			FormationMessage first = link.receive(HandshakeDeadline.within(ConnectionAcceptor.HANDSHAKE_LIMIT));
			if (first instanceof AskStatus) {
				link.send(this.member.status());
			}
			else if (first instanceof Join join && join.member().slot() == hello.rank()
					&& join.member().id().equals(hello.member())) {
				serve(new LocalMember.Request(join, link));
			}
		}
		catch (IOException | RuntimeException ex) {
			// The client is gone or sent malformed data.
		}
	}

	private void serve(LocalMember.Request request) throws IOException {
		this.member.add(request);
		try {
			while (true) {
				switch (request.link().receive(() -> request.link().send(new Wait()))) {
					case Accepted(String formation, int port) -> this.member.accepted(request, formation, port);
					case Joined(String formation) -> this.member.joined(request, formation);
					default -> throw new IOException("unexpected message");
				}
			}
		}
		finally {
			this.member.ended(request);
		}
	}

	/** Stops to listen. */
	@Override
	public void close() {
		this.acceptor.close();
	}

}
