package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.util.concurrent.CompletableFuture;

import io.tutti.engine.control.ControlConnection;
import io.tutti.engine.control.ControlListener;
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

	private static final int MAX_WARNINGS = 20;

	private enum Phase {

		GATHERING, FORMED, LEAVING

	}

	private final RendezvousSettings settings;

	private final RendezvousFailure failure;

	private final ControlLoop loop;

	private final ConnectionAcceptor acceptor;

	private final JoinPolicy policy;

	private final RankTable rankTable;

	private final RankConnections connections;

	private final PeerTable peers;

	private final Coordinator coordinator;

	private final RankControl control;

	private final StatusBroadcast statusBroadcast;

	private final CompletableFuture<Roster> formed = new CompletableFuture<>();

	private Phase phase = Phase.GATHERING;

	private int warnings;

	ControlServer(ServerSocketChannel listener, int worldSize, RendezvousSettings settings, ControlListener events,
			RendezvousFailure failure) throws IOException {
		this.settings = settings;
		this.failure = failure;
		this.policy = new JoinPolicy(settings.jobId(), Math.max(0, settings.generation()), worldSize);
		this.acceptor = new ConnectionAcceptor(listener, ConnectionAcceptor.OTHER_CLIENTS + worldSize,
				ConnectionAcceptor.HANDSHAKE_LIMIT);
		this.rankTable = new RankTable(worldSize);
		this.connections = new RankConnections(worldSize);
		this.peers = new PeerTable(worldSize, System::nanoTime);
		this.coordinator = new Coordinator(this.peers, settings.verdict(), System::nanoTime, this,
				new BarrierService(worldSize, System::nanoTime, this));
		this.control = new RankControl(0, events, this.peers, this,
				new LabelledWaits(0, worldSize, this, settings.heartbeat()));
		this.loop = new ControlLoop("tutti-r0-control", this.peers, this.control.events(), settings.heartbeat(), this);
		this.statusBroadcast = new StatusBroadcast(this.connections, worldSize,
				new WaitLogger(0, this.control.events(), failure.deadline()), System.nanoTime());
	}

	/** Starts the rendezvous. The result comes by the deadline or soon after. */
	CompletableFuture<Roster> start() {
		this.acceptor.start("tutti-r0-accept-control", this.settings.tls(), Handshake.ofControl(this.settings.token()),
				this);
		this.loop.start();
		return this.formed;
	}

	RankControl control() {
		return this.control;
	}

	// The control thread

	@Override
	public void receive(ControlConnection from, ControlMessage message) throws MalformedFrameException {
		switch (message) {
			case Leave(var cutOff) -> left(from, cutOff);
			case Request request -> {
				if (this.phase == Phase.FORMED) {
					this.coordinator.receive(from.peer(), request);
				}
			}
			case RendezvousMessage _, Notice _, Heartbeat _ ->
				throw new MalformedFrameException("unexpected " + message.getClass().getSimpleName());
		}
	}

	private void join(PeerSocket socket, Handshake.Verified<Hello> client) {
		int rank = client.hello().rank();
		HandshakeException refusal = refusal(rank);
		if (refusal != null) {
			warnOfRefused("rank " + rank + " from " + ConnectionAcceptor.describe(socket), refusal.getMessage());
			Thread.startVirtualThread(() -> this.acceptor.refuse(socket, refusal));
		}
		else if (this.acceptor.release(socket)) {
			join(socket, client.hello(), client.welcome());
		}
	}

	private @Nullable HandshakeException refusal(int rank) {
		boolean gathering = this.phase == Phase.GATHERING;
		if (gathering ? this.rankTable.isTaken(rank) : this.peers.isUp(rank)) {
			return JoinPolicy.duplicate(rank);
		}
		return gathering ? null : JoinPolicy.abandoned(rank);
	}

	private void join(PeerSocket socket, Hello hello, Welcome welcome) {
		ControlConnection connection;
		RankTable.Entry entry;
		try {
			connection = new ControlConnection(hello.rank(), socket);
			entry = RankTable.Entry.of(hello, connection);
			this.loop.add(connection);
		}
		catch (IOException ex) {
			socket.close();
			return;
		}
		this.rankTable.take(entry);
		this.connections.add(connection);
		this.peers.received(hello.rank());
		this.statusBroadcast.changed();
		connection.send(welcome);
		if (this.rankTable.allTaken()) {
			form();
		}
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

	private void form() {
		this.phase = Phase.FORMED;
		String chosen = this.settings.advertisedHost();
		this.rankTable.hidden(chosen).forEach(this::warnOfHidden);
		String reached = this.rankTable.rankZeroHost(this.failure.point().host());
		PeerAddress own = new PeerAddress(0, (chosen != null) ? chosen : "", this.settings.dataPort(),
				HostIdentity.ofThisHost());
		Roster roster = new Roster(this.policy.generation(), Handshake.nonce(), this.settings.sharedConfig(),
				this.rankTable.roster(own, reached));
		this.connections.broadcast(roster);
		Roster reachable = roster.withRankZeroAt(reached);
		this.peers.roster(reachable.peers());
		this.formed.complete(reachable);
	}

	private void warnOfHidden(int rank) {
		this.control.events()
			.warn("rank " + rank + " advertises a loopback address, which ranks of other hosts cannot reach:"
					+ " leave its tutti.transport.advertised-host out, or set it to the host's own address");
	}

	private void left(ControlConnection from, @Nullable String cutOff) {
		int rank = from.peer();
		from.finish();
		if (this.phase == Phase.GATHERING && cutOff == null) {
			leftBeforeForming(from);
		}
		if (this.phase != Phase.FORMED) {
			return;
		}
		if (cutOff != null && this.loop.pausedLately()) {
			this.coordinator.lost(0, "rank " + rank + " considers it lost: " + cutOff);
		}
		else if (cutOff != null) {
			this.coordinator.lost(rank, "it is partitioned from rank 0, which it considers lost: " + cutOff);
		}
		this.coordinator.receive(rank, new Leave(cutOff));
	}

	/** Informs the waiting ranks at once: the operator may be stopping them, too. */
	private void leftBeforeForming(ControlConnection from) {
		if (this.connections.remove(from)) {
			this.rankTable.leave(from.peer());
			this.connections.broadcast(new Awaiting(this.rankTable.absence(), false));
			this.control.events().withdrew(from.peer());
		}
	}

	@Override
	public void disconnected(ControlConnection from, boolean ended, String detail) {
		int rank = from.peer();
		if (ended && this.phase == Phase.FORMED && this.peers.isUp(rank)) {
			this.control.events().ended(rank);
		}
		if (!this.connections.remove(from)) {
			return;
		}
		this.statusBroadcast.changed();
		switch (this.phase) {
			case GATHERING -> {
				this.rankTable.drop(rank);
				this.control.events().warn("rank " + rank + " was lost during rendezvous: " + detail);
			}
			case FORMED -> this.coordinator.lost(rank, detail);
			case LEAVING -> {
			}
		}
	}

	/** Keeps a lost rank's connection: a rank that was only stopped reads the reason. */
	@Override
	public void silent(ControlConnection peer, String detail) {
		if (this.phase == Phase.FORMED) {
			this.coordinator.lost(peer.peer(), detail);
			return;
		}
		peer.close();
		disconnected(peer, false, detail);
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
				if (this.connections.ranks().noneMatch(this.peers::isUp)) {
					this.loop.stop();
				}
			}
		}
	}

	@Override
	public long nanosUntilDue() {
		return switch (this.phase) {
			case GATHERING -> this.failure.deadline().remainingNanos();
			case FORMED -> this.coordinator.nanosUntilDue();
			case LEAVING -> Long.MAX_VALUE;
		};
	}

	private void giveUpInTime() {
		if (this.failure.deadline().expired()) {
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
			this.connections.broadcast(lastMessage);
			this.connections.finish();
			this.loop.stopAfterLinger();
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
		this.loop.join();
	}

}
