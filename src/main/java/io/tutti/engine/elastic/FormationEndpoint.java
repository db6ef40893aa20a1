package io.tutti.engine.elastic;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.Stream;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.bootstrap.ConnectionAcceptor;
import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.bootstrap.Endpoint.NameService;
import io.tutti.engine.bootstrap.EndpointListener;
import io.tutti.engine.bootstrap.Handshake;
import io.tutti.engine.bootstrap.HandshakeException;
import io.tutti.engine.bootstrap.ListenException;
import io.tutti.engine.bootstrap.RefusedClients;
import io.tutti.engine.control.ControlMessage.FormationHello;
import io.tutti.engine.control.Heartbeats;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.RendezvousException.Reason;
import io.tutti.engine.elastic.FormationMessage.AskStatus;
import io.tutti.engine.elastic.FormationMessage.Formation;
import io.tutti.engine.elastic.FormationMessage.Join;
import io.tutti.engine.elastic.FormationMessage.Member;
import io.tutti.engine.elastic.FormationMessage.Reply;
import io.tutti.engine.elastic.FormationMessage.Status;
import io.tutti.engine.elastic.FormationMessage.Wait;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.tls.HandshakeDeadline;
import io.tutti.engine.tls.PeerSocket;
import org.jspecify.annotations.Nullable;

/**
 * The port at which a member answers for its whole life, and its connections to the ports
 * of the other members.
 */
final class FormationEndpoint implements ConnectionAcceptor.Port<FormationHello>, AutoCloseable {

	/** What an attempt to ask a slot has shown. */
	sealed interface Answer {

		/** A process listens there. */
		record Alive(Status status) implements Answer {
		}

		/**
		 * No process listens there. That shows the end of a member only if
		 * {@link FormationEndpoint#hasEnded} says so: the name of the slot may lead to
		 * another host.
		 *
		 * @param addresses that refused the connection
		 */
		record Refused(Set<InetAddress> addresses) implements Answer {

			public Refused {
				addresses = Set.copyOf(addresses);
			}

		}

		/** Nothing is known of the process. */
		record Silent() implements Answer {
		}

	}

	/** Where this process has reached the process of a slot. */
	private record Reached(String member, InetAddress address) {
	}

	/**
	 * How long a member waits for the name of its endpoint, less than the rendezvous
	 * timeout: an application does not stop while it starts.
	 */
	private static final Duration NAME_LIMIT = Duration.ofSeconds(10);

	/** How often a member is asked that has not answered since its group has formed. */
	private static final long REACH_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

	/** How long an endpoint that ends connections without an answer is asked again. */
	private static final long CLOSING_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

	private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	/**
	 * A connection that fails within this time was refused. Later the kernel may have
	 * given it up, at the earliest after seconds, which is the same exception. A process
	 * that was stopped sees it before its own time limit.
	 */
	private static final long REFUSAL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

	/** A member that runs answers far sooner. The process that joins waits longer. */
	private static final Duration HOLDER_LIMIT = Duration.ofMillis(500);

	private final LocalMember member;

	private final EngineSettings settings;

	private final List<Endpoint> endpoints;

	private final NameService names;

	private final Handshake<FormationHello> handshake;

	private final ConnectionAcceptor acceptor;

	private final RefusedClients refused;

	/** The last process that has answered, by slot. */
	private final Map<Integer, Reached> reached = new ConcurrentHashMap<>();

	private final Set<Integer> nameless = ConcurrentHashMap.newKeySet();

	/** Ids of members in whose slot another process has answered later. */
	private final Set<String> replaced = ConcurrentHashMap.newKeySet();

	/** Of a handshake in the last round of questions. */
	private volatile @Nullable HandshakeException refusal;

	private volatile boolean closed;

	private FormationEndpoint(LocalMember member, EngineSettings settings, List<Endpoint> endpoints, NameService names,
			ConnectionAcceptor acceptor, Consumer<String> warn) {
		this.member = member;
		this.settings = settings;
		this.endpoints = endpoints;
		this.names = names;
		this.handshake = Handshake.ofFormation(settings.token());
		this.acceptor = acceptor;
		this.refused = new RefusedClients(warn);
	}

	/**
	 * Listens at the endpoint of this member's slot.
	 * @param warn logs a warning
	 * @throws RendezvousException if the address cannot be bound
	 */
	static FormationEndpoint open(LocalMember member, EngineSettings settings, List<Endpoint> endpoints,
			Consumer<String> warn) {
		return open(member, settings, endpoints, warn, NameService.SYSTEM);
	}

	/** As above, with a given name service. */
	static FormationEndpoint open(LocalMember member, EngineSettings settings, List<Endpoint> endpoints,
			Consumer<String> warn, NameService names) {
		int slot = member.self().slot();
		Endpoint own = endpoints.get(slot);
		String bind = settings.bindAddress();
		EndpointListener listener = new EndpointListener(new Endpoint((bind != null) ? bind : own.host(), own.port()),
				names, Deadline.after(Deadline.shorter(settings.timeouts().rendezvous(), NAME_LIMIT)));
		AtomicBoolean warned = new AtomicBoolean();
		try {
			ServerSocketChannel server = listener.open((what) -> {
				if (!warned.getAndSet(true)) {
					warn.accept("rank " + slot + " " + what);
				}
			});
			if (endpoints.stream().map(Endpoint::host).distinct().count() > 1) {
				listener.warnOfLoopback(slot, server, warn);
			}
			FormationEndpoint endpoint = new FormationEndpoint(
					member, settings, endpoints, names, new ConnectionAcceptor(server,
							ConnectionAcceptor.OTHER_CLIENTS + endpoints.size(), ConnectionAcceptor.HANDSHAKE_LIMIT),
					warn);
			if (bind == null) {
				// Later the name service may be out of order.
				endpoint.reached.put(slot, new Reached(member.self().id(), server.socket().getInetAddress()));
			}
			endpoint.acceptor.start("tutti-s" + slot + "-formation", settings.tls(), endpoint.handshake, endpoint);
			return endpoint;
		}
		catch (ListenException ex) {
			throw failure((ex.problem() == ListenException.Problem.NAME) ? Reason.TIMEOUT : Reason.ADDRESS, slot,
					endpoints, ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw failure(Reason.TIMEOUT, slot, endpoints, ex);
		}
	}

	private static RendezvousException failure(Reason reason, int slot, List<Endpoint> endpoints, Exception cause) {
		Endpoint own = endpoints.get(slot);
		return new RendezvousException(new RankAssignment(slot, endpoints.size(), 0, 1, own.host(), own.port()), reason,
				"cannot listen at its endpoint " + own + ": " + ((cause instanceof ListenException) ? cause.getMessage()
						+ ". Set tutti.elastic.endpoints to a free port and a known address of this host for each rank"
						: "interrupted while it waited for its name"),
				List.of(), cause);
	}

	/**
	 * Connects to the member in a slot: at the address where it was reached last, or at
	 * those of its name. A name may lead to another host for a while after a process was
	 * replaced.
	 */
	FormationLink connect(int slot, Duration limit) throws IOException {
		IOException last = new UnknownHostException(this.endpoints.get(slot).host());
		for (InetAddress address : addresses(slot, limit)) {
			try {
				return connect(address, slot, limit);
			}
			catch (IOException ex) {
				last = ex;
			}
		}
		throw last;
	}

	private FormationLink connect(InetAddress address, int slot, Duration limit) throws IOException {
		FormationHello hello = new FormationHello(this.settings.jobId(), this.member.self().slot(),
				this.member.self().id());
		return new FormationLink(this.handshake.connect(new InetSocketAddress(address, this.endpoints.get(slot).port()),
				this.settings.tls(), (local) -> hello, HandshakeDeadline.within(limit)));
	}

	/**
	 * Where the process of a slot was reached last, then the addresses of its name, which
	 * is looked up only if the first address does not suffice.
	 */
	private Iterable<InetAddress> addresses(int slot, Duration limit) {
		Reached last = this.reached.get(slot);
		return () -> Stream
			.concat(Stream.ofNullable(last).map(Reached::address),
					Stream.of(slot).flatMap((each) -> lookUp(each, limit).stream()))
			.distinct()
			.iterator();
	}

	private List<InetAddress> lookUp(int slot, Duration limit) {
		Endpoint endpoint = this.endpoints.get(slot);
		try {
			List<InetAddress> found = endpoint.resolve(this.names, Deadline.after(limit));
			this.nameless.remove(slot);
			return found;
		}
		catch (IOException ex) {
			this.nameless.add(slot);
			return List.of();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return List.of();
		}
	}

	/**
	 * Asks all slots at once what their members do.
	 * @param except slots that are not asked, besides this member's own
	 * @param limits time for the connection to a slot, and as much for its answer
	 * @return the answer of each slot that was asked, and this member's own
	 */
	Map<Integer, Answer> askAll(Set<Integer> except, IntFunction<Duration> limits) throws InterruptedException {
		this.refusal = null;
		Map<Integer, Answer> answers = new ConcurrentHashMap<>();
		answers.put(this.member.self().slot(), new Answer.Alive(this.member.status()));
		Map<Thread, Deadline> asking = new LinkedHashMap<>();
		for (int each = 0; each < this.endpoints.size(); each++) {
			int slot = each;
			if (slot != this.member.self().slot() && !except.contains(slot)) {
				Duration limit = limits.apply(slot);
				answers.put(slot, new Answer.Silent());
				asking.put(Thread.startVirtualThread(() -> answers.put(slot, ask(slot, limit))),
						Deadline.after(limit.multipliedBy(2)));
			}
		}
		for (Thread thread : asking.keySet()) {
			thread.join(asking.get(thread).remaining());
		}
		return Map.copyOf(answers);
	}

	/**
	 * Whether no address was found for the name of a slot's endpoint, as where its
	 * process was never started.
	 */
	boolean isNameless(int slot) {
		return this.nameless.contains(slot);
	}

	/**
	 * The refusal of a handshake by either side since all were asked last, {@code null}
	 * for none.
	 */
	@Nullable HandshakeException refusal() {
		return this.refusal;
	}

	/** Asks a slot what its member does. */
	Answer ask(int slot, Duration limit) {
		Set<InetAddress> refused = new HashSet<>();
		boolean silent = false;
		for (InetAddress address : addresses(slot, limit)) {
			Answer answer = ask(slot, address, limit);
			if (answer instanceof Answer.Alive) {
				return answer;
			}
			if (answer instanceof Answer.Refused) {
				refused.add(address);
			}
			else {
				silent = true;
			}
		}
		Reached last = this.reached.get(slot);
		boolean shown = (last != null && refused.contains(last.address())) || (!refused.isEmpty() && !silent);
		return shown ? new Answer.Refused(refused) : new Answer.Silent();
	}

	/**
	 * Asks again if the connection ends without an answer: an endpoint that closes resets
	 * the connections that it has not accepted, and refuses later ones.
	 */
	private Answer ask(int slot, InetAddress address, Duration limit) {
		long startNanos = System.nanoTime();
		do {
			long connectNanos = System.nanoTime();
			try (FormationLink link = connect(address, slot, limit)) {
				link.send(this.member.question());
				if (link.receive(HandshakeDeadline.within(limit)) instanceof Status status
						&& status.member().slot() == slot) {
					remember(status.member(), address);
					return new Answer.Alive(status);
				}
				return new Answer.Silent();
			}
			catch (ConnectException ex) {
				return (System.nanoTime() - connectNanos < REFUSAL_NANOS) ? new Answer.Refused(Set.of(address))
						: new Answer.Silent();
			}
			catch (HandshakeException ex) {
				this.refusal = ex;
				return new Answer.Silent();
			}
			catch (IOException | RuntimeException ex) {
				LockSupport.parkNanos(RETRY_NANOS);
			}
		}
		while (System.nanoTime() - startNanos < CLOSING_NANOS);
		return new Answer.Silent();
	}

	private void remember(Member answering, InetAddress address) {
		Reached before = this.reached.put(answering.slot(), new Reached(answering.id(), address));
		if (before != null && !before.member().equals(answering.id())) {
			this.replaced.add(before.member());
		}
	}

	/**
	 * Whether an answer of a member's slot shows that its process has ended: another
	 * process of that slot has answered, or the address where this member itself was
	 * reached refuses connections.
	 */
	boolean hasEnded(Member asked, Answer answer) {
		return switch (answer) {
			case Answer.Alive(var status) -> !status.member().id().equals(asked.id());
			case Answer.Silent() -> false;
			case Answer.Refused(var addresses) -> this.replaced.contains(asked.id())
					|| (reachedAt(asked) instanceof InetAddress address && addresses.contains(address));
		};
	}

	/** The host of a member: the address where it was reached, else its slot's name. */
	String host(Member asked) {
		return (reachedAt(asked) instanceof InetAddress address) ? address.getHostAddress()
				: this.endpoints.get(asked.slot()).host();
	}

	private @Nullable InetAddress reachedAt(Member asked) {
		Reached last = this.reached.get(asked.slot());
		return (last != null && last.member().equals(asked.id())) ? last.address() : null;
	}

	/**
	 * Asks the members of a formation in the background until each has answered, while it
	 * is this member's last one, so that its address is known when it no longer answers.
	 */
	void learnAddresses(Formation formation, Duration limit) {
		for (Member other : formation.members()) {
			if (!other.equals(this.member.self())) {
				Thread.startVirtualThread(() -> learnAddress(other, formation, limit));
			}
		}
	}

	private void learnAddress(Member other, Formation formation, Duration limit) {
		while (!this.closed && formation.equals(this.member.base()) && reachedAt(other) == null) {
			ask(other.slot(), limit);
			LockSupport.parkNanos(REACH_NANOS);
		}
	}

	@Override
	public void authenticated(PeerSocket socket, Handshake.Verified<FormationHello> client) throws IOException {
		FormationHello hello = client.hello();
		if (!hello.jobId().equals(this.settings.jobId())) {
			throw new HandshakeException(Reason.JOB, "the endpoint belongs to job " + this.settings.jobId() + ", not "
					+ hello.jobId() + "; give each job its own tutti.elastic.endpoints");
		}
		if (hello.rank() < 0 || hello.rank() >= this.endpoints.size()) {
			throw new HandshakeException(Reason.PROTOCOL,
					"a slot must be in 0.." + (this.endpoints.size() - 1) + ", got " + hello.rank());
		}
		requireFree(hello);
		if (this.acceptor.release(socket)) {
			Handshake.write(socket, client.welcome(), HandshakeDeadline.within(ConnectionAcceptor.HANDSHAKE_LIMIT));
			Thread.startVirtualThread(() -> serve(new FormationLink(socket), hello));
		}
	}

	/**
	 * Refuses another process of a slot whose member answers. One that does not, as it
	 * was stopped, can be replaced.
	 */
	private void requireFree(FormationHello hello) throws HandshakeException {
		Member holder = this.member.running(hello.rank());
		if (holder != null && !holder.id().equals(hello.member())
				&& ask(hello.rank(), HOLDER_LIMIT) instanceof Answer.Alive(var status)
				&& status.member().equals(holder)) {
			throw HandshakeException.duplicate(hello.rank());
		}
	}

	@Override
	public void refused(String client, String reason) {
		this.refused.add(client, reason);
	}

	private void serve(FormationLink link, FormationHello hello) {
		try (link) {
			FormationMessage first = link.receive(HandshakeDeadline.within(ConnectionAcceptor.HANDSHAKE_LIMIT));
			if (first instanceof AskStatus question) {
				link.send(this.member.status());
				this.member.asked(hello.member(), question);
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
		if (!this.member.add(request)) {
			return;
		}
		HandshakeDeadline alive = signsOfLife(request.link());
		try {
			while (true) {
				if (!(request.link().receive(alive) instanceof Reply reply)) {
					throw new IOException("unexpected message");
				}
				this.member.replied(request, reply);
			}
		}
		finally {
			this.member.drop(request);
		}
	}

	/**
	 * No deadline: shows the waiting member from time to time that this one is alive. A
	 * failure to do so does not end the wait, since what the member has sent before it
	 * closed the connection is still to be read.
	 */
	private HandshakeDeadline signsOfLife(FormationLink link) {
		Heartbeats heartbeats = new Heartbeats(this.settings.timeouts().heartbeat(), System.nanoTime());
		return () -> {
			if (heartbeats.beat(System.nanoTime())) {
				link.trySend(new Wait());
			}
		};
	}

	/** Stops to listen. */
	@Override
	public void close() {
		this.closed = true;
		this.acceptor.close();
	}

}
