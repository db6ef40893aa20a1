package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.tutti.engine.control.ControlListener;
import io.tutti.engine.control.ControlLoop;
import io.tutti.engine.control.ControlMessage;
import io.tutti.engine.control.ControlMessage.Awaiting;
import io.tutti.engine.control.ControlMessage.Greeting;
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
import io.tutti.engine.control.labelled.LabelledRequests;
import io.tutti.engine.control.labelled.LabelledWaits;
import io.tutti.engine.spi.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * Rank 0's side of every control connection: first the ranks join, then the connections
 * carry the control plane. All of it runs on the control thread.
 */
final class ControlServer implements ControlLoop.Work, Coordinator.Downlink, RankControl.Uplink {

	/** Time for pending messages to reach the other ranks when rank 0 leaves. */
	static final Duration LINGER = Duration.ofSeconds(2);

	private static final int SCRATCH_BYTES = 64 << 10;

	private enum Phase {

		GATHERING, FORMED, LEAVING

	}

	private final RendezvousSettings settings;

	private final Deadline deadline;

	private final RendezvousFailure failure;

	private final ControlLoop loop;

	private final ControlAcceptor acceptor;

	private final HandshakeProof proofs;

	private final JoinHandler joinHandler;

	private final RankTable rankTable;

	private final RankConnections connections;

	private final PeerTable board;

	private final Heartbeats heartbeats;

	private final Coordinator arbiter;

	private final RankControl control;

	private final StatusBroadcast statusBroadcast;

	private final CompletableFuture<RendezvousResult> formed = new CompletableFuture<>();

	private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES);

	private Phase phase = Phase.GATHERING;

	private long leaveByNanos;

	ControlServer(ServerSocketChannel listener, int worldSize, RendezvousSettings settings, ControlListener events,
			Deadline deadline, RendezvousFailure failure) throws IOException {
		this.settings = settings;
		this.deadline = deadline;
		this.failure = failure;
		this.loop = new ControlLoop("tutti-r0-control");
		this.proofs = new HandshakeProof(settings.token());
		this.rankTable = new RankTable(worldSize);
		this.connections = new RankConnections(worldSize);
		this.board = new PeerTable(worldSize, System::nanoTime);
		this.heartbeats = new Heartbeats(settings.heartbeat(), System.nanoTime());
		this.arbiter = new Coordinator(this.board, settings.verdict(), System::nanoTime, this,
				new LabelledRequests(worldSize, System::nanoTime, this));
		this.control = new RankControl(0, events, this.board, this,
				new LabelledWaits(0, worldSize, this, settings.heartbeat()));
		this.statusBroadcast = new StatusBroadcast(this.connections, worldSize,
				new WaitLogger(0, this.control.events(), deadline), System.nanoTime());
		this.joinHandler = new JoinHandler(
				new JoinPolicy(settings.jobId(), Math.max(0, settings.generation()), worldSize), this.control.events());
		this.acceptor = new ControlAcceptor(listener, this.loop, this.proofs, worldSize, this.joinHandler, this::read);
	}

	/** Starts the rendezvous. The result comes by the deadline or soon after. */
	CompletableFuture<RendezvousResult> start() {
		this.acceptor.open(this.settings.tls());
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
		if (key.attachment() instanceof PendingConnection pending) {
			if (key.isReadable()) {
				read(pending);
			}
			if (key.isValid() && key.isWritable()) {
				pending.connection().flush();
			}
		}
	}

	private void read(PendingConnection pending) {
		try {
			boolean open = pending.connection().fill(this.scratch);
			if (pending.rank() >= 0) {
				this.board.heard(pending.rank());
			}
			for (var message = pending.connection().next(); message != null; message = pending.connection().next()) {
				receive(pending, message);
			}
			if (!open) {
				hungUp(pending, "its connection closed");
			}
		}
		catch (IOException ex) {
			hungUp(pending, "its connection broke: " + RendezvousFailure.words(ex));
		}
		catch (MalformedFrameException ex) {
			if (pending.connection().heardTls() && !pending.refused()) {
				this.joinHandler.refuseTls(pending);
				return;
			}
			if (!pending.refused()) {
				this.joinHandler.closed(pending, ex);
			}
			hungUp(pending, "it sent what is no message: " + ex.getMessage());
		}
	}

	private void receive(PendingConnection pending, ControlMessage message)
			throws IOException, MalformedFrameException {
		if (pending.refused()) {
			return;
		}
		switch (message) {
			case Ping(long sent) when pending.rank() >= 0 ->
				pending.connection().send(new Pong(sent, this.control.events().progress()));
			case Pong(long sent, List<RankProgress> progress) when pending.rank() >= 0 -> {
				this.board.roundTrip(pending.rank(), System.nanoTime() - sent);
				this.board.progress(pending.rank(), progress);
			}
			case Request request when pending.rank() >= 0 -> request(pending, request);
			case Greeting greeting when pending.rank() < 0 -> greet(pending, greeting);
			case Ping _, Pong _, Request _, Greeting _, Notice _ ->
				throw new MalformedFrameException("a " + message.getClass().getSimpleName() + " out of turn");
		}
	}

	private void greet(PendingConnection pending, Greeting greeting) throws IOException, MalformedFrameException {
		Hello hello = this.joinHandler.greet(pending, greeting, this::slotOf);
		if (hello == null || !this.acceptor.release(pending)) {
			return;
		}
		this.rankTable.take(pending.asEntry(hello));
		pending.seat(hello);
		this.connections.add(pending);
		this.board.heard(hello.rank());
		this.statusBroadcast.changed();
		long generation = this.joinHandler.generation();
		pending.connection().send(new Welcome(generation, pending.handshake().answerProof(hello, generation)));
		if (this.rankTable.allTaken()) {
			form();
		}
	}

	private JoinPolicy.Slot slotOf(int rank) {
		if (this.phase == Phase.GATHERING) {
			return this.rankTable.isTaken(rank) ? JoinPolicy.Slot.TAKEN : JoinPolicy.Slot.FREE;
		}
		return this.board.isUp(rank) ? JoinPolicy.Slot.TAKEN : JoinPolicy.Slot.ABANDONED;
	}

	private void form() {
		this.phase = Phase.FORMED;
		byte[] keyNonce = this.proofs.nonce();
		long generation = this.joinHandler.generation();
		String chosen = this.settings.advertisedHost();
		this.rankTable.hidden(chosen).forEach(this::warnOfHidden);
		String reached = this.rankTable.rankZeroHost(this.failure.point().host());
		this.connections.broadcast(new Roster(generation, keyNonce, this.settings.conduct(),
				roster((chosen != null) ? chosen : "", reached)));
		List<PeerAddress> own = roster((chosen != null) ? chosen : reached, reached);
		this.board.roster(own);
		this.formed.complete(new RendezvousResult(generation, own, this.proofs.session(keyNonce)));
	}

	private void warnOfHidden(int rank) {
		this.control.events()
			.warn("rank " + rank + " is told to be found at a loopback address, where ranks of other hosts cannot"
					+ " reach it: leave its tutti.transport.advertised-host out, or give the host's own address");
	}

	private List<PeerAddress> roster(String advertisedHost, String reachedHost) {
		return this.rankTable.roster(
				new PeerAddress(0, advertisedHost, this.settings.dataPort(), HostIdentity.ofThisHost()), reachedHost);
	}

	private void request(PendingConnection pending, Request request) {
		if (request instanceof Leave(var cutOff)) {
			left(pending, cutOff);
		}
		else if (this.phase == Phase.FORMED) {
			this.arbiter.receive(pending.rank(), request);
		}
	}

	private void left(PendingConnection pending, @Nullable String cutOff) {
		pending.connection().finish();
		if (this.phase == Phase.GATHERING && cutOff == null) {
			leftBeforeForming(pending);
		}
		if (this.phase != Phase.FORMED) {
			return;
		}
		if (cutOff != null && this.heartbeats.pausedLately(System.nanoTime())) {
			this.arbiter.lost(0, "rank " + pending.rank() + " found it " + cutOff);
		}
		else if (cutOff != null) {
			this.arbiter.lost(pending.rank(), "it was cut off: it found rank 0 " + cutOff);
		}
		this.arbiter.receive(pending.rank(), new Leave(cutOff));
	}

	/** Informs the waiting ranks at once: the operator may be stopping them, too. */
	private void leftBeforeForming(PendingConnection pending) {
		if (this.connections.remove(pending)) {
			this.rankTable.leave(pending.rank());
			this.connections.broadcast(new Awaiting(this.rankTable.absence(), false));
			this.control.events().withdrew(pending.rank());
		}
	}

	private void hungUp(PendingConnection pending, String detail) {
		pending.connection().close();
		this.acceptor.release(pending);
		if (!this.connections.remove(pending)) {
			return;
		}
		this.statusBroadcast.changed();
		switch (this.phase) {
			case GATHERING -> {
				this.rankTable.drop(pending.rank());
				this.control.events().warn("rank " + pending.rank() + " was lost while ranks met: " + detail);
			}
			case FORMED -> this.arbiter.lost(pending.rank(), detail);
			case LEAVING -> {
			}
		}
	}

	@Override
	public void tick() {
		long now = System.nanoTime();
		switch (this.phase) {
			case GATHERING -> giveUpInTime();
			case FORMED -> this.arbiter.tick();
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
			case FORMED -> this.arbiter.nanosUntilDue();
			case LEAVING -> this.leaveByNanos - now;
		};
		return Math.min(due, this.heartbeats.nanosUntilBeat(now));
	}

	private void beat(long now) {
		this.acceptor.closeExpired();
		ByteBuffer ping = MessageCodec.encode(new Ping(now));
		this.connections.stream().filter(this::isUp).forEach((pending) -> {
			if (this.heartbeats.silent(this.board.heardNanos(pending.rank()), now)) {
				silent(pending);
			}
			else {
				pending.connection().send(ping);
			}
		});
		switch (this.phase) {
			case GATHERING -> this.statusBroadcast.tellAbsence(this.rankTable, this.failure.point());
			case FORMED -> this.statusBroadcast.tellSightings(this.board, now);
			case LEAVING -> {
			}
		}
	}

	private boolean isUp(PendingConnection pending) {
		return this.board.isUp(pending.rank());
	}

	/** Keeps a lost rank's connection: a rank that was only stopped reads the reason. */
	private void silent(PendingConnection pending) {
		if (this.phase == Phase.FORMED) {
			this.arbiter.lost(pending.rank(), this.heartbeats.describeSilence());
		}
		else {
			hungUp(pending, this.heartbeats.describeSilence());
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

	private void leave(ControlMessage lastWord) {
		if (this.phase == Phase.FORMED) {
			this.arbiter.flushDepartures();
		}
		if (this.phase != Phase.LEAVING) {
			this.phase = Phase.LEAVING;
			this.leaveByNanos = System.nanoTime() + LINGER.toNanos();
			this.acceptor.close();
			this.connections.broadcast(lastWord);
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
		this.loop.execute(() -> this.arbiter.receive(0, request));
	}

	@Override
	public void execute(Runnable task) {
		this.loop.execute(task);
	}

	@Override
	public void leave() {
		this.loop.execute(() -> leave(new RankZeroLeft()));
		this.loop.join(LINGER.plusSeconds(1));
	}

}
