package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.util.concurrent.CompletableFuture;

import io.tutti.engine.control.ControlConnection;
import io.tutti.engine.control.ControlLoop;
import io.tutti.engine.control.ControlMessage;
import io.tutti.engine.control.ControlMessage.Awaiting;
import io.tutti.engine.control.ControlMessage.Heartbeat;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.ControlMessage.Leave;
import io.tutti.engine.control.ControlMessage.Notice;
import io.tutti.engine.control.ControlMessage.RankZeroLeft;
import io.tutti.engine.control.ControlMessage.RendezvousMessage;
import io.tutti.engine.control.ControlMessage.Request;
import io.tutti.engine.control.ControlMessage.Roster;
import io.tutti.engine.control.ControlMessage.Welcome;
import io.tutti.engine.control.Coordinator;
import io.tutti.engine.control.MalformedFrameException;
import io.tutti.engine.control.MissingRanks;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.PeerTable;
import io.tutti.engine.control.RankControl;
import io.tutti.engine.control.RendezvousSettings;
import io.tutti.engine.control.labelled.BarrierService;
import io.tutti.engine.control.labelled.LabelledWaits;
import io.tutti.engine.tls.PeerSocket;
import org.jspecify.annotations.Nullable;

/**
 * Rank 0's side of every control connection: first the ranks join, then the connections
 * carry the control plane. All of it runs on the control thread.
 */
final class ControlServer
		implements ControlLoop.Work, ConnectionAcceptor.Port<Hello>, Coordinator.Downlink, RankControl.Uplink {

	private enum Phase {

		GATHERING, FORMED, LEAVING

	}

	private final JoinRequest request;

	private final RendezvousFailure failure;

	private final ControlLoop loop;

	private final ConnectionAcceptor acceptor;

	private final RefusedClients refused;

	private final JoinPolicy policy;

	private final RankTable rankTable;

	private final PeerTable peers;

	private final Coordinator coordinator;

	private final RankControl control;

	private final StatusBroadcast statusBroadcast;

	private final CompletableFuture<Roster> formed = new CompletableFuture<>();

	private Phase phase = Phase.GATHERING;

	ControlServer(ServerSocketChannel listener, JoinRequest request, RendezvousFailure failure) throws IOException {
		int worldSize = request.assignment().worldSize();
		RendezvousSettings settings = request.settings();
		this.request = request;
		this.failure = failure;
		this.policy = new JoinPolicy(settings.jobId(), request.generation(), worldSize);
		this.acceptor = new ConnectionAcceptor(listener, ConnectionAcceptor.OTHER_CLIENTS + worldSize,
				ConnectionAcceptor.HANDSHAKE_LIMIT);
		this.refused = new RefusedClients(request.events()::warn);
		this.rankTable = new RankTable(worldSize);
		this.peers = new PeerTable(worldSize, System::nanoTime);
		this.coordinator = new Coordinator(this.peers, settings.verdict(), System::nanoTime, this,
				new BarrierService(worldSize, System::nanoTime, this));
		this.control = new RankControl(0, request.events(), this.peers, this,
				new LabelledWaits(0, worldSize, this, settings.heartbeat()));
		this.loop = new ControlLoop("tutti-r0-control", this.peers, request.events(), settings.heartbeat(), this);
		this.statusBroadcast = new StatusBroadcast(this.loop, worldSize, new WaitLogger(request), System.nanoTime());
	}

	/** Starts the rendezvous. The result comes by the deadline or soon after. */
	CompletableFuture<Roster> start() {
		this.acceptor.start("tutti-r0-accept-control", this.request.settings().tls(),
				Handshake.ofControl(this.request.settings().token()), this);
		this.loop.start();
		return this.formed;
	}

	RankControl control() {
		return this.control;
	}

	// The control thread

	@Override
	public void receive(int rank, ControlMessage message) throws MalformedFrameException {
		switch (message) {
			case Leave leave -> left(rank, leave);
			case Request request -> {
				if (this.phase == Phase.FORMED) {
					this.coordinator.receive(rank, request);
				}
			}
			case RendezvousMessage _, Notice _, Heartbeat _ ->
				throw new MalformedFrameException("unexpected " + message.getClass().getSimpleName());
		}
	}

	/** A client that arrives while rank 0 leaves gets no answer, as one that is later. */
	private void join(PeerSocket socket, Handshake.Verified<Hello> client) {
		if (this.phase == Phase.LEAVING) {
			socket.close();
			return;
		}
		int rank = client.hello().rank();
		HandshakeException refusal = refusal(rank);
		if (refusal != null) {
			this.refused.add("rank " + rank + " from " + ConnectionAcceptor.describe(socket), refusal.getMessage());
			Thread.startVirtualThread(() -> this.acceptor.refuse(socket, refusal));
		}
		else if (this.acceptor.release(socket)) {
			join(socket, client.hello(), client.welcome());
		}
	}

	private @Nullable HandshakeException refusal(int rank) {
		boolean gathering = this.phase == Phase.GATHERING;
		if (gathering ? this.rankTable.isTaken(rank) : this.peers.isUp(rank)) {
			return HandshakeException.duplicate(rank);
		}
		return gathering ? null : JoinPolicy.abandoned(rank);
	}

	private void join(PeerSocket socket, Hello hello, Welcome welcome) {
		int rank = hello.rank();
		try {
			ControlConnection connection = new ControlConnection(rank, socket);
			RankTable.Entry entry = RankTable.Entry.of(hello, connection);
			this.loop.add(connection);
			this.rankTable.take(entry);
		}
		catch (IOException ex) {
			socket.close();
			return;
		}
		this.peers.received(rank);
		this.statusBroadcast.changed();
		this.loop.send(rank, welcome);
		if (this.rankTable.allTaken()) {
			form();
		}
	}

	private void form() {
		this.phase = Phase.FORMED;
		String chosen = this.request.settings().advertisedHost();
		this.rankTable.hidden(chosen).forEach(this::warnOfHidden);
		String reached = this.rankTable.rankZeroHost(this.failure.point().host());
		PeerAddress own = this.request.address((chosen != null) ? chosen : "");
		Roster roster = this.request.roster(this.rankTable.roster(own, reached));
		this.loop.broadcast(roster);
		Roster reachable = roster.withRankZeroAt(reached);
		this.peers.roster(reachable.peers());
		this.formed.complete(reachable);
	}

	private void warnOfHidden(int rank) {
		this.request.events()
			.warn("rank " + rank + " advertises a loopback address, which ranks of other hosts cannot reach:"
					+ " leave its tutti.transport.advertised-host out, or set it to the host's own address");
	}

	private void left(int rank, Leave leave) {
		switch (this.phase) {
			case GATHERING -> leftBeforeForming(rank, leave);
			case FORMED -> leftFormed(rank, leave);
			case LEAVING -> {
			}
		}
	}

	private void leftFormed(int rank, Leave leave) {
		String reason = leave.reason();
		if (leave.cutOff() && this.loop.pausedLately()) {
			this.coordinator.lost(0, "rank " + rank + " considers it lost: " + reason);
		}
		else if (leave.cutOff()) {
			this.coordinator.lost(rank, "it is partitioned from rank 0, which it considers lost: " + reason);
		}
		else if (reason != null) {
			this.coordinator.lost(rank, "it had given up when the last rank joined: " + reason);
		}
		this.coordinator.receive(rank, leave);
	}

	/**
	 * Informs the waiting ranks at once of a rank that leaves in order: the operator may
	 * be stopping them, too.
	 */
	private void leftBeforeForming(int rank, Leave leave) {
		String reason = leave.reason();
		if (reason != null) {
			this.loop.drop(rank, leave.cutOff() ? "it considers rank 0 lost: " + reason : "it gave up: " + reason);
			return;
		}
		this.loop.dismiss(rank);
		this.rankTable.leave(rank);
		this.loop.broadcast(new Awaiting(this.rankTable.absence(), false));
		this.request.events().withdrew(rank);
	}

	@Override
	public void disconnected(int rank, boolean ended, String detail) {
		this.statusBroadcast.changed();
		switch (this.phase) {
			case GATHERING -> {
				this.rankTable.drop(rank);
				this.request.events().warn("rank " + rank + " was lost during rendezvous: " + detail);
			}
			case FORMED -> {
				if (ended && this.peers.isUp(rank)) {
					this.request.events().closedByKernel(rank);
				}
				this.coordinator.lost(rank, detail);
			}
			case LEAVING -> {
			}
		}
	}

	/** Keeps a lost rank's connection: a rank that was only stopped reads the reason. */
	@Override
	public void silent(int rank, String detail) {
		if (this.phase == Phase.FORMED) {
			this.coordinator.lost(rank, detail);
		}
		else {
			this.loop.drop(rank, detail);
		}
	}

	@Override
	public void beat(long nowNanos) {
		switch (this.phase) {
			case GATHERING -> this.statusBroadcast.sendMissingRanks(this.rankTable, this.failure.point());
			case FORMED -> this.statusBroadcast.sendPeerUpdate(this.peers, nowNanos);
			case LEAVING -> {
			}
		}
	}

	@Override
	public void tick() {
		switch (this.phase) {
			case GATHERING -> giveUpInTime();
			case FORMED -> this.coordinator.tick();
			case LEAVING -> {
			}
		}
	}

	@Override
	public long nanosUntilDue() {
		return switch (this.phase) {
			case GATHERING -> this.request.deadline().remainingNanos();
			case FORMED -> this.coordinator.nanosUntilDue();
			case LEAVING -> Long.MAX_VALUE;
		};
	}

	private void giveUpInTime() {
		if (this.request.deadline().expired()) {
			MissingRanks absence = this.rankTable.absence();
			leave(new Awaiting(absence, true));
			this.formed.completeExceptionally(this.failure.timedOut(absence));
		}
	}

	private void leave(ControlMessage lastMessage) {
		if (this.phase == Phase.FORMED) {
			this.coordinator.flushDepartures();
		}
		if (this.phase != Phase.LEAVING) {
			this.phase = Phase.LEAVING;
			this.acceptor.close();
			this.loop.broadcast(lastMessage);
			this.loop.finish();
		}
	}

	@Override
	public void ended() {
		this.acceptor.close();
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
		this.loop.execute(() -> this.refused.add(client, reason));
	}

	// Coordinator.Downlink

	@Override
	public void send(int rank, Notice notice) {
		if (rank == 0) {
			this.control.receive(notice);
		}
		else {
			this.loop.send(rank, notice);
		}
	}

	@Override
	public void broadcast(Notice notice) {
		this.loop.broadcast(notice);
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
		this.loop.join();
	}

}
