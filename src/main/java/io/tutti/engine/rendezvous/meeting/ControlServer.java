package io.tutti.engine.rendezvous.meeting;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.tutti.engine.Deadline;
import io.tutti.engine.rendezvous.ControlEvents;
import io.tutti.engine.rendezvous.PeerAddress;
import io.tutti.engine.rendezvous.PeerStatus;
import io.tutti.engine.rendezvous.Progress;
import io.tutti.engine.rendezvous.RendezvousSettings;
import io.tutti.engine.rendezvous.control.Arbiter;
import io.tutti.engine.rendezvous.control.Heartbeats;
import io.tutti.engine.rendezvous.control.PeerBoard;
import io.tutti.engine.rendezvous.control.RankControl;
import io.tutti.engine.rendezvous.wire.Absence;
import io.tutti.engine.rendezvous.wire.ControlLoop;
import io.tutti.engine.rendezvous.wire.ControlMessage;
import io.tutti.engine.rendezvous.wire.ControlMessage.Awaiting;
import io.tutti.engine.rendezvous.wire.ControlMessage.Farewell;
import io.tutti.engine.rendezvous.wire.ControlMessage.Goodbye;
import io.tutti.engine.rendezvous.wire.ControlMessage.Greeting;
import io.tutti.engine.rendezvous.wire.ControlMessage.Hello;
import io.tutti.engine.rendezvous.wire.ControlMessage.Notice;
import io.tutti.engine.rendezvous.wire.ControlMessage.Ping;
import io.tutti.engine.rendezvous.wire.ControlMessage.Pong;
import io.tutti.engine.rendezvous.wire.ControlMessage.Request;
import io.tutti.engine.rendezvous.wire.ControlMessage.Roster;
import io.tutti.engine.rendezvous.wire.ControlMessage.Welcome;
import io.tutti.engine.rendezvous.wire.MalformedFrameException;
import io.tutti.engine.rendezvous.wire.MessageCodec;
import org.jspecify.annotations.Nullable;

/**
 * Rank 0's side of every connection: first it gathers the ranks, then it carries the
 * control plane. Everything happens on the control thread.
 */
final class ControlServer implements ControlLoop.Work, Arbiter.Downlink, RankControl.Uplink {

	/** How long what is pending may take to reach the others when rank 0 goes. */
	static final Duration LINGER = Duration.ofSeconds(2);

	private static final int SCRATCH_BYTES = 64 << 10;

	private enum Phase {

		GATHERING, FORMED, LEAVING

	}

	private final RendezvousSettings settings;

	private final Deadline deadline;

	private final MeetingFailure failure;

	private final ControlLoop loop;

	private final Reception reception;

	private final HandshakeProof proofs;

	private final Gatekeeper gatekeeper;

	private final Seats seats;

	private final Members members;

	private final PeerBoard board;

	private final Heartbeats heartbeats;

	private final Arbiter arbiter;

	private final RankControl control;

	private final Bulletin bulletin;

	private final CompletableFuture<Formed> formed = new CompletableFuture<>();

	private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES);

	private Phase phase = Phase.GATHERING;

	private long leaveByNanos;

	ControlServer(ServerSocketChannel listener, int worldSize, RendezvousSettings settings, ControlEvents events,
			Deadline deadline, MeetingFailure failure) throws IOException {
		this.settings = settings;
		this.deadline = deadline;
		this.failure = failure;
		this.loop = new ControlLoop("tutti-r0-control");
		this.proofs = new HandshakeProof(settings.token());
		this.seats = new Seats(worldSize);
		this.members = new Members(worldSize);
		this.board = new PeerBoard(worldSize, System::nanoTime);
		this.heartbeats = new Heartbeats(settings.heartbeat(), System.nanoTime());
		this.arbiter = new Arbiter(worldSize, settings.verdict(), System::nanoTime, this);
		this.control = new RankControl(0, events, this.board, this, settings.heartbeat());
		this.bulletin = new Bulletin(this.members, worldSize, new WaitNotes(0, this.control.events(), deadline),
				System.nanoTime());
		this.gatekeeper = new Gatekeeper(new Admission(settings.jobId(), Math.max(0, settings.generation()), worldSize),
				this.control.events());
		this.reception = new Reception(listener, this.loop, this.proofs, worldSize, settings.tls(), this.gatekeeper,
				this::read);
	}

	/** Starts to gather; the result comes by the deadline or soon after. */
	CompletableFuture<Formed> start() throws IOException {
		this.reception.open();
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
		if (key.attachment() instanceof Caller caller) {
			if (key.isReadable()) {
				read(caller);
			}
			if (key.isValid() && key.isWritable()) {
				caller.connection().flush();
			}
			return;
		}
		this.reception.accept(System.nanoTime());
	}

	private void read(Caller caller) {
		try {
			boolean open = caller.connection().fill(this.scratch);
			if (caller.rank() >= 0) {
				this.board.heard(caller.rank());
			}
			for (var message = caller.connection().next(); message != null; message = caller.connection().next()) {
				receive(caller, message);
			}
			if (!open) {
				hungUp(caller, "its connection closed");
			}
		}
		catch (IOException ex) {
			hungUp(caller, "its connection broke: " + MeetingFailure.words(ex));
		}
		catch (MalformedFrameException ex) {
			if (caller.connection().heardTls() && !caller.refused()) {
				this.gatekeeper.refuseTls(caller);
				return;
			}
			if (!caller.refused()) {
				this.gatekeeper.hungUp(caller, ex);
			}
			hungUp(caller, "it sent what is no message: " + ex.getMessage());
		}
	}

	private void receive(Caller caller, ControlMessage message) throws IOException, MalformedFrameException {
		if (caller.refused()) {
			return;
		}
		switch (message) {
			case Ping(long sent) when caller.rank() >= 0 ->
				caller.connection().send(new Pong(sent, this.control.events().progress()));
			case Pong(long sent, List<Progress> progress) when caller.rank() >= 0 -> {
				this.board.roundTrip(caller.rank(), System.nanoTime() - sent);
				this.arbiter.seen(caller.rank(), progress);
			}
			case Request request when caller.rank() >= 0 -> request(caller, request);
			case Greeting greeting when caller.rank() < 0 -> greet(caller, greeting);
			case Ping _, Pong _, Request _, Greeting _, Notice _ ->
				throw new MalformedFrameException("a " + message.getClass().getSimpleName() + " out of turn");
		}
	}

	private void greet(Caller caller, Greeting greeting) throws IOException, MalformedFrameException {
		Hello hello = this.gatekeeper.greet(caller, greeting, this::seatOf);
		if (hello == null) {
			return;
		}
		this.seats.take(caller.asGuest(hello));
		this.reception.done(caller);
		caller.seat(hello);
		this.members.add(caller);
		this.board.heard(hello.rank());
		this.bulletin.changed();
		long generation = this.gatekeeper.generation();
		caller.connection().send(new Welcome(generation, caller.handshake().answerProof(hello, generation)));
		if (this.seats.allTaken()) {
			form();
		}
	}

	private Admission.Seat seatOf(int rank) {
		if (this.phase == Phase.GATHERING) {
			return this.seats.isTaken(rank) ? Admission.Seat.TAKEN : Admission.Seat.FREE;
		}
		boolean there = this.arbiter.stateOf(rank) == PeerStatus.State.UP;
		return there ? Admission.Seat.TAKEN : Admission.Seat.ABANDONED;
	}

	private void form() {
		this.phase = Phase.FORMED;
		byte[] keyNonce = this.proofs.nonce();
		long generation = this.gatekeeper.generation();
		String chosen = this.settings.advertisedHost();
		this.seats.hidden(chosen).forEach(this::warnOfHidden);
		String reached = this.seats.rankZeroHost(this.failure.point().host());
		this.members.broadcast(new Roster(generation, keyNonce, this.settings.conduct(),
				roster((chosen != null) ? chosen : "", reached)));
		List<PeerAddress> own = roster((chosen != null) ? chosen : reached, reached);
		this.board.roster(own);
		this.formed.complete(new Formed(generation, own, this.proofs.session(keyNonce)));
	}

	private void warnOfHidden(int rank) {
		this.control.events()
			.warn("rank " + rank + " is told to be found at a loopback address, where ranks of other hosts cannot"
					+ " reach it: leave its tutti.transport.advertised-host out, or give the host's own address");
	}

	private List<PeerAddress> roster(String advertisedHost, String reachedHost) {
		return this.seats.roster(
				new PeerAddress(0, advertisedHost, this.settings.dataPort(), HostIdentity.ofThisHost()), reachedHost);
	}

	private void request(Caller caller, Request request) {
		if (request instanceof Goodbye(var cutOff)) {
			goodbye(caller, cutOff);
		}
		else if (this.phase == Phase.FORMED) {
			this.arbiter.receive(caller.rank(), request);
		}
	}

	private void goodbye(Caller caller, @Nullable String cutOff) {
		caller.connection().finish();
		if (this.phase == Phase.GATHERING && cutOff == null) {
			withdrew(caller);
		}
		if (this.phase != Phase.FORMED) {
			return;
		}
		if (cutOff != null && this.heartbeats.pausedLately(System.nanoTime())) {
			this.arbiter.lost(0, "rank " + caller.rank() + " found it " + cutOff);
		}
		else if (cutOff != null) {
			this.arbiter.lost(caller.rank(), "it was cut off: it found rank 0 " + cutOff);
		}
		this.arbiter.receive(caller.rank(), new Goodbye(cutOff));
	}

	/** Those who wait are told at once: whoever stopped that rank may mean them too. */
	private void withdrew(Caller caller) {
		if (this.members.remove(caller)) {
			this.seats.leave(caller.rank());
			this.members.broadcast(new Awaiting(this.seats.absence(), false));
			this.control.events().withdrew(caller.rank());
		}
	}

	private void hungUp(Caller caller, String detail) {
		caller.connection().close();
		this.reception.done(caller);
		if (!this.members.remove(caller)) {
			return;
		}
		this.bulletin.changed();
		switch (this.phase) {
			case GATHERING -> {
				this.seats.drop(caller.rank());
				this.control.events().warn("rank " + caller.rank() + " was lost while ranks met: " + detail);
			}
			case FORMED -> this.arbiter.lost(caller.rank(), detail);
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
		this.reception.expire(now);
		ByteBuffer ping = MessageCodec.encode(new Ping(now));
		this.members.stream().filter(this::isUp).forEach((caller) -> {
			if (this.heartbeats.silent(this.board.heardNanos(caller.rank()), now)) {
				silent(caller);
			}
			else {
				caller.connection().send(ping);
			}
		});
		switch (this.phase) {
			case GATHERING -> this.bulletin.tellAbsence(this.seats, this.failure.point());
			case FORMED -> this.bulletin.tellSightings(this.board, now);
			case LEAVING -> {
			}
		}
	}

	private boolean isUp(Caller caller) {
		return this.arbiter.stateOf(caller.rank()) == PeerStatus.State.UP;
	}

	/** A lost rank's connection stays: if it was only stopped, it reads why it is out. */
	private void silent(Caller caller) {
		if (this.phase == Phase.FORMED) {
			this.arbiter.lost(caller.rank(), this.heartbeats.describeSilence());
		}
		else {
			hungUp(caller, this.heartbeats.describeSilence());
		}
	}

	private void giveUpInTime() {
		if (this.deadline.expired()) {
			Absence absence = this.seats.absence();
			leave(new Awaiting(absence, true));
			this.formed.completeExceptionally(this.failure.timedOut(absence, this.deadline));
		}
	}

	private void stopWhenAllHaveGone(long now) {
		if (now - this.leaveByNanos >= 0 || this.members.stream().noneMatch(this::isUp)) {
			this.loop.stop();
		}
	}

	private void leave(ControlMessage lastWord) {
		if (this.phase == Phase.FORMED) {
			this.arbiter.tellDepartures();
		}
		if (this.phase != Phase.LEAVING) {
			this.phase = Phase.LEAVING;
			this.leaveByNanos = System.nanoTime() + LINGER.toNanos();
			this.reception.close();
			this.members.broadcast(lastWord);
			this.members.finish();
		}
	}

	@Override
	public void ended() {
		this.reception.close();
		this.members.close();
		if (this.phase != Phase.LEAVING) {
			this.formed.completeExceptionally(new IllegalStateException("the control thread ended"));
			this.control.rankZeroLost("its control thread ended");
		}
	}

	// Arbiter.Downlink

	@Override
	public void send(int rank, Notice notice) {
		if (rank == 0) {
			this.control.receive(notice);
		}
		else {
			this.members.send(rank, notice);
		}
	}

	@Override
	public void broadcast(Notice notice) {
		this.members.broadcast(notice);
		this.control.receive(notice);
	}

	@Override
	public void gone(int rank, PeerStatus.State how) {
		this.board.state(rank, how);
		this.bulletin.changed();
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
		this.loop.execute(() -> leave(new Farewell()));
		this.loop.join(LINGER.plusSeconds(1));
	}

}
