package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.tutti.engine.bootstrap.RankConnections.Joined;
import io.tutti.engine.control.ControlConnection;
import io.tutti.engine.control.ControlListener;
import io.tutti.engine.control.ControlLoop;
import io.tutti.engine.control.ControlMessage;
import io.tutti.engine.control.ControlMessage.Awaiting;
import io.tutti.engine.control.ControlMessage.RendezvousMessage;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.ControlMessage.Leave;
import io.tutti.engine.control.ControlMessage.Notice;
import io.tutti.engine.control.ControlMessage.Ping;
import io.tutti.engine.control.ControlMessage.Pong;
import io.tutti.engine.control.ControlMessage.RankZeroLeft;
import io.tutti.engine.control.ControlMessage.Request;
import io.tutti.engine.control.ControlMessage.Roster;
import io.tutti.engine.control.ControlMessage.Welcome;
import io.tutti.engine.control.Coordinator;
import io.tutti.engine.control.Heartbeats;
import io.tutti.engine.control.MalformedFrameException;
import io.tutti.engine.control.MessageCodec;
import io.tutti.engine.control.MissingRanks;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.PeerTable;
import io.tutti.engine.control.RankControl;
import io.tutti.engine.control.RankProgress;
import io.tutti.engine.control.RendezvousSettings;
import io.tutti.engine.control.SessionKey;
import io.tutti.engine.control.labelled.BarrierService;
import io.tutti.engine.control.labelled.LabelledWaits;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.tls.PeerSocket;
import org.jspecify.annotations.Nullable;

/**
 * Rank 0's side of every control connection: first the ranks join, then the connections
 * carry the control plane. All of it runs on the control thread.
 */
final class ControlServer
		implements ControlLoop.Work, ConnectionAcceptor.Port<Hello>, Coordinator.Downlink, RankControl.Uplink {

	/** Time for pending messages to reach the other ranks when rank 0 leaves. */
	static final Duration LINGER = Duration.ofSeconds(2);

	private static final int MAX_WARNINGS = 20;

	private static final int SCRATCH_BYTES = 64 << 10;

	/** What rank 0 decides when all ranks have joined. */
	record Result(long generation, List<PeerAddress> roster, SessionKey sessionKey) {
	}

	private enum Phase {

		GATHERING, FORMED, LEAVING

	}

	private final RendezvousSettings settings;

	private final Deadline deadline;

	private final RendezvousFailure failure;

	private final ControlLoop loop;

	private final ConnectionAcceptor acceptor;

	private final Handshake<Hello> handshake;

	private final JoinPolicy policy;

	private final RankTable rankTable;

	private final RankConnections connections;

	private final PeerTable peers;

	private final Heartbeats heartbeats;

	private final Coordinator coordinator;

	private final RankControl control;

	private final StatusBroadcast statusBroadcast;

	private final CompletableFuture<Result> formed = new CompletableFuture<>();

	private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES);

	private Phase phase = Phase.GATHERING;

	private long leaveByNanos;

	private int warnings;

	ControlServer(ServerSocketChannel listener, int worldSize, RendezvousSettings settings, ControlListener events,
			Deadline deadline, RendezvousFailure failure) throws IOException {
		this.settings = settings;
		this.deadline = deadline;
		this.failure = failure;
		this.loop = new ControlLoop("tutti-r0-control");
		this.handshake = Handshake.ofControl(settings.token());
		this.policy = new JoinPolicy(settings.jobId(), Math.max(0, settings.generation()), worldSize);
		this.acceptor = new ConnectionAcceptor(listener, ConnectionAcceptor.OTHER_CLIENTS + worldSize,
				ConnectionAcceptor.HANDSHAKE_LIMIT);
		this.rankTable = new RankTable(worldSize);
		this.connections = new RankConnections(worldSize);
		this.peers = new PeerTable(worldSize, System::nanoTime);
		this.heartbeats = new Heartbeats(settings.heartbeat(), System.nanoTime());
		this.coordinator = new Coordinator(this.peers, settings.verdict(), System::nanoTime, this,
				new BarrierService(worldSize, System::nanoTime, this));
		this.control = new RankControl(0, events, this.peers, this,
				new LabelledWaits(0, worldSize, this, settings.heartbeat()));
		this.statusBroadcast = new StatusBroadcast(this.connections, worldSize,
				new WaitLogger(0, this.control.events(), deadline), System.nanoTime());
	}

	/** Starts the rendezvous. The result comes by the deadline or soon after. */
	CompletableFuture<Result> start() {
		this.acceptor.start("tutti-r0-accept-control", this.settings.tls(), this.handshake, this);
		this.loop.start(this);
		return this.formed;
	}

	RankControl control() {
		return this.control;
	}

	// The control thread

	@Override
	public void awake() {
		this.heartbeats.awake(System.nanoTime());
	}

	@Override
	public void ready(SelectionKey key) {
		if (key.attachment() instanceof Joined joined) {
			if (key.isReadable()) {
				read(joined);
			}
			if (key.isValid() && key.isWritable()) {
				joined.connection().flush();
			}
		}
	}

	private void read(Joined joined) {
		try {
			boolean open = joined.connection().fill(this.scratch);
			this.peers.received(joined.rank());
			for (var message = joined.connection().next(); message != null; message = joined.connection().next()) {
				receive(joined, message);
			}
			if (!open) {
				ended(joined);
			}
		}
		catch (IOException ex) {
			disconnected(joined, "its connection failed: " + RendezvousFailure.words(ex));
		}
		catch (MalformedFrameException ex) {
			disconnected(joined, "it sent a malformed message: " + ex.getMessage());
		}
	}

	private void ended(Joined joined) {
		if (this.phase == Phase.FORMED && isUp(joined)) {
			this.control.events().ended(joined.rank());
		}
		disconnected(joined, "its connection closed");
	}

	private void receive(Joined joined, ControlMessage message) throws MalformedFrameException {
		switch (message) {
			case Ping(long sent) -> joined.connection().send(new Pong(sent, this.control.events().progress()));
			case Pong(long sent, List<RankProgress> progress) -> {
				this.peers.roundTrip(joined.rank(), System.nanoTime() - sent);
				this.peers.progress(joined.rank(), progress);
			}
			case Request request -> request(joined, request);
			case RendezvousMessage _, Notice _ ->
				throw new MalformedFrameException("unexpected " + message.getClass().getSimpleName());
		}
	}

	private void join(PeerSocket socket, Handshake.Verified<Hello> client) {
		int rank = client.hello().rank();
		HandshakeException refusal = this.policy.refusal(rank, slotOf(rank));
		if (refusal != null) {
			warnOfRefused("rank " + rank + " from " + ConnectionAcceptor.describe(socket), refusal.getMessage());
			Thread.startVirtualThread(() -> this.acceptor.refuse(socket, refusal));
		}
		else if (this.acceptor.release(socket)) {
			join(socket, client.hello(), client.welcome());
		}
	}

	private void join(PeerSocket socket, Hello hello, Welcome welcome) {
		Joined joined;
		RankTable.Entry entry;
		try {
			ControlConnection connection = new ControlConnection(socket);
			joined = new Joined(hello.rank(), connection);
			entry = RankTable.Entry.of(hello, connection);
			connection.register(this.loop.register(connection.channel(), SelectionKey.OP_READ, joined));
		}
		catch (IOException ex) {
			socket.close();
			return;
		}
		this.rankTable.take(entry);
		this.connections.add(joined);
		this.peers.received(hello.rank());
		this.statusBroadcast.changed();
		joined.connection().send(welcome);
		if (this.rankTable.allTaken()) {
			form();
		}
		// TLS may already have taken the first message from the socket.
		read(joined);
	}

	/** Hostile clients can cause any number of refusals. */
	private void warnOfRefused(String client, String reason) {
		if (this.warnings++ < MAX_WARNINGS) {
			this.control.events().warn("refused " + client + ": " + reason);
			if (this.warnings == MAX_WARNINGS) {
				this.control.events().warn("further refused clients are not reported");
			}
		}
	}

	private JoinPolicy.Slot slotOf(int rank) {
		if (this.phase == Phase.GATHERING) {
			return this.rankTable.isTaken(rank) ? JoinPolicy.Slot.TAKEN : JoinPolicy.Slot.FREE;
		}
		return this.peers.isUp(rank) ? JoinPolicy.Slot.TAKEN : JoinPolicy.Slot.ABANDONED;
	}

	private void form() {
		this.phase = Phase.FORMED;
		byte[] keyNonce = Handshake.nonce();
		long generation = this.policy.generation();
		String chosen = this.settings.advertisedHost();
		this.rankTable.hidden(chosen).forEach(this::warnOfHidden);
		String reached = this.rankTable.rankZeroHost(this.failure.point().host());
		this.connections.broadcast(new Roster(generation, keyNonce, this.settings.sharedConfig(),
				roster((chosen != null) ? chosen : "", reached)));
		List<PeerAddress> own = roster((chosen != null) ? chosen : reached, reached);
		this.peers.roster(own);
		this.formed.complete(new Result(generation, own, this.handshake.session(keyNonce)));
	}

	private void warnOfHidden(int rank) {
		this.control.events()
			.warn("rank " + rank + " advertises a loopback address, which ranks of other hosts cannot reach:"
					+ " leave its tutti.transport.advertised-host out, or set it to the host's own address");
	}

	private List<PeerAddress> roster(String advertisedHost, String reachedHost) {
		return this.rankTable.roster(
				new PeerAddress(0, advertisedHost, this.settings.dataPort(), HostIdentity.ofThisHost()), reachedHost);
	}

	private void request(Joined joined, Request request) {
		if (request instanceof Leave(var cutOff)) {
			left(joined, cutOff);
		}
		else if (this.phase == Phase.FORMED) {
			this.coordinator.receive(joined.rank(), request);
		}
	}

	private void left(Joined joined, @Nullable String cutOff) {
		joined.connection().finish();
		if (this.phase == Phase.GATHERING && cutOff == null) {
			leftBeforeForming(joined);
		}
		if (this.phase != Phase.FORMED) {
			return;
		}
		if (cutOff != null && this.heartbeats.pausedLately(System.nanoTime())) {
			this.coordinator.lost(0, "rank " + joined.rank() + " considers it lost: " + cutOff);
		}
		else if (cutOff != null) {
			this.coordinator.lost(joined.rank(), "it is partitioned from rank 0, which it considers lost: " + cutOff);
		}
		this.coordinator.receive(joined.rank(), new Leave(cutOff));
	}

	/** Informs the waiting ranks at once: the operator may be stopping them, too. */
	private void leftBeforeForming(Joined joined) {
		if (this.connections.remove(joined)) {
			this.rankTable.leave(joined.rank());
			this.connections.broadcast(new Awaiting(this.rankTable.absence(), false));
			this.control.events().withdrew(joined.rank());
		}
	}

	private void disconnected(Joined joined, String detail) {
		joined.connection().close();
		if (!this.connections.remove(joined)) {
			return;
		}
		this.statusBroadcast.changed();
		switch (this.phase) {
			case GATHERING -> {
				this.rankTable.drop(joined.rank());
				this.control.events().warn("rank " + joined.rank() + " was lost during rendezvous: " + detail);
			}
			case FORMED -> this.coordinator.lost(joined.rank(), detail);
			case LEAVING -> {
			}
		}
	}

	@Override
	public void tick() {
		long now = System.nanoTime();
		switch (this.phase) {
			case GATHERING -> giveUpInTime();
			case FORMED -> this.coordinator.tick();
			case LEAVING -> stopWhenAllHaveGone(now);
		}
		if (this.heartbeats.beat(now)) {
			beat(now);
		}
	}

	@Override
	public long nanosUntilDue() {
		long now = System.nanoTime();
		long due = switch (this.phase) {
			case GATHERING -> this.deadline.remainingNanos();
			case FORMED -> this.coordinator.nanosUntilDue();
			case LEAVING -> this.leaveByNanos - now;
		};
		return Math.min(due, this.heartbeats.nanosUntilBeat(now));
	}

	private void beat(long now) {
		this.acceptor.closeExpired();
		ByteBuffer ping = MessageCodec.encode(new Ping(now));
		this.connections.stream().filter(this::isUp).forEach((joined) -> {
			if (this.heartbeats.silent(this.peers.lastReceivedNanos(joined.rank()), now)) {
				silent(joined);
			}
			else {
				joined.connection().send(ping);
			}
		});
		switch (this.phase) {
			case GATHERING -> this.statusBroadcast.sendMissingRanks(this.rankTable, this.failure.point());
			case FORMED -> this.statusBroadcast.sendPeerUpdate(this.peers, now);
			case LEAVING -> {
			}
		}
	}

	private boolean isUp(Joined joined) {
		return this.peers.isUp(joined.rank());
	}

	/** Keeps a lost rank's connection: a rank that was only stopped reads the reason. */
	private void silent(Joined joined) {
		if (this.phase == Phase.FORMED) {
			this.coordinator.lost(joined.rank(), this.heartbeats.describeSilence());
		}
		else {
			disconnected(joined, this.heartbeats.describeSilence());
		}
	}

	private void giveUpInTime() {
		if (this.deadline.expired()) {
			MissingRanks absence = this.rankTable.absence();
			leave(new Awaiting(absence, true));
			this.formed.completeExceptionally(this.failure.timedOut(absence, this.deadline));
		}
	}

	private void stopWhenAllHaveGone(long now) {
		if (now - this.leaveByNanos >= 0 || this.connections.stream().noneMatch(this::isUp)) {
			this.loop.stop();
		}
	}

	private void leave(ControlMessage lastMessage) {
		if (this.phase == Phase.FORMED) {
			this.coordinator.flushDepartures();
		}
		if (this.phase != Phase.LEAVING) {
			this.phase = Phase.LEAVING;
			this.leaveByNanos = System.nanoTime() + LINGER.toNanos();
			this.acceptor.close();
			this.connections.broadcast(lastMessage);
			this.connections.finish();
		}
	}

	@Override
	public void ended() {
		this.acceptor.close();
		this.connections.close();
		if (this.phase != Phase.LEAVING) {
			this.formed.completeExceptionally(new IllegalStateException("the control thread ended"));
			this.control.rankZeroLost("its control thread ended");
		}
	}

	// ConnectionAcceptor.Port, on the thread of one handshake

	@Override
	public void authenticated(PeerSocket socket, Handshake.Verified<Hello> client) throws IOException {
		this.policy.check(client.hello());
		this.loop.execute(() -> join(socket, client));
	}

	@Override
	public void refused(String client, String reason) {
		this.loop.execute(() -> warnOfRefused(client, reason));
	}

	// Coordinator.Downlink

	@Override
	public void send(int rank, Notice notice) {
		if (rank == 0) {
			this.control.receive(notice);
		}
		else {
			this.connections.send(rank, notice);
		}
	}

	@Override
	public void broadcast(Notice notice) {
		this.connections.broadcast(notice);
		this.control.receive(notice);
	}

	@Override
	public void peersChanged() {
		this.statusBroadcast.changed();
	}

	// RankControl.Uplink, from any thread

	@Override
	public void send(Request request) {
		this.loop.execute(() -> this.coordinator.receive(0, request));
	}

	@Override
	public void execute(Runnable task) {
		this.loop.execute(task);
	}

	@Override
	public void leave() {
		this.loop.execute(() -> leave(new RankZeroLeft(this.control.lastCall())));
		this.loop.join(LINGER.plusSeconds(1));
	}

}
