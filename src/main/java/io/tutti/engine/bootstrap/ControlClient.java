package io.tutti.engine.bootstrap;

import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.tutti.engine.control.ControlConnection;
import io.tutti.engine.control.ControlLoop;
import io.tutti.engine.control.ControlMessage;
import io.tutti.engine.control.ControlMessage.Awaiting;
import io.tutti.engine.control.ControlMessage.Heartbeat;
import io.tutti.engine.control.ControlMessage.Leave;
import io.tutti.engine.control.ControlMessage.Notice;
import io.tutti.engine.control.ControlMessage.RankZeroLeft;
import io.tutti.engine.control.ControlMessage.RendezvousMessage;
import io.tutti.engine.control.ControlMessage.Request;
import io.tutti.engine.control.ControlMessage.Roster;
import io.tutti.engine.control.MalformedFrameException;
import io.tutti.engine.control.PeerTable;
import io.tutti.engine.control.RankControl;
import io.tutti.engine.control.labelled.LabelledWaits;
import io.tutti.engine.spi.CleanUp;
import org.jspecify.annotations.Nullable;

/**
 * The control connection of a rank other than 0, from the end of the handshake until one
 * side leaves. All of it runs on the control thread.
 */
final class ControlClient implements ControlLoop.Work, RankControl.Uplink {

	private enum Phase {

		/** Some ranks have not joined. */
		WAITING,
		/** All ranks have joined. */
		FORMED,
		/** Rank 0 has left or is lost. This rank resolves its requests locally. */
		ALONE,
		/** This rank is leaving. */
		LEAVING

	}

	private final ControlConnection connection;

	private final ControlLoop loop;

	/** The address at which this rank reached rank 0. */
	private final String rankZeroHost;

	private final PeerTable peers;

	private final RankControl control;

	private final CompletableFuture<Roster> roster = new CompletableFuture<>();

	private volatile @Nullable Awaiting awaiting;

	/**
	 * The reason for leaving that this rank reports, {@code null} for an orderly close.
	 */
	private volatile @Nullable String gaveUp;

	private Phase phase = Phase.WAITING;

	ControlClient(ControlConnection connection, JoinRequest request) throws IOException {
		int rank = request.assignment().rank();
		int worldSize = request.assignment().worldSize();
		Duration heartbeat = request.settings().heartbeat();
		this.connection = connection;
		this.rankZeroHost = Endpoint.text(connection.remote().getAddress());
		this.peers = new PeerTable(worldSize, System::nanoTime);
		this.peers.received(0);
		this.control = new RankControl(rank, request.events(), this.peers, this,
				new LabelledWaits(rank, worldSize, this, heartbeat));
		this.loop = new ControlLoop("tutti-r" + rank + "-control", this.peers, request.events(), heartbeat, this);
	}

	/**
	 * Starts to wait for the other ranks.
	 * @return the roster; an {@link IOException} if the connection was lost before
	 */
	CompletableFuture<Roster> start() {
		try {
			this.loop.add(this.connection);
		}
		catch (IOException ex) {
			this.connection.close();
			disconnected(0, false, "its connection failed: " + CleanUp.message(ex));
		}
		this.loop.start();
		return this.roster;
	}

	RankControl control() {
		return this.control;
	}

	/** Leaves for a reason that concerns this rank only. */
	void giveUp(String reason) {
		this.gaveUp = reason;
		this.control.close();
	}

	/** The last status that rank 0 has sent. */
	@Nullable Awaiting awaiting() {
		return this.awaiting;
	}

	// The control thread

	@Override
	public void receive(int rankZero, ControlMessage message) throws MalformedFrameException {
		switch (message) {
			case Awaiting news -> receive(news);
			case Roster complete -> receive(complete);
			case RankZeroLeft left -> rankZeroLeft(left);
			case Notice notice -> this.control.receive(notice);
			case RendezvousMessage _, Request _, Heartbeat _ ->
				throw new MalformedFrameException("unexpected " + message.getClass().getSimpleName());
		}
	}

	private void receive(Awaiting news) {
		Awaiting before = this.awaiting;
		this.awaiting = news;
		List<Integer> known = (before != null) ? before.absence().left() : List.of();
		news.absence().left().stream().filter((rank) -> !known.contains(rank)).forEach(this.control.events()::withdrew);
	}

	private void receive(Roster complete) throws MalformedFrameException {
		this.peers.requireWhole(complete.peers());
		if (this.phase == Phase.WAITING) {
			this.phase = Phase.FORMED;
			Roster reachable = complete.withRankZeroAt(this.rankZeroHost);
			this.peers.roster(reachable.peers());
			this.roster.complete(reachable);
		}
	}

	private void rankZeroLeft(RankZeroLeft left) {
		this.control.receive(left);
		if (this.phase == Phase.WAITING) {
			this.control.events().withdrew(0);
			this.loop.stop();
			this.roster.completeExceptionally(new EOFException("rank 0 left during rendezvous"));
		}
		else if (this.phase == Phase.FORMED) {
			this.phase = Phase.ALONE;
		}
	}

	@Override
	public void disconnected(int rankZero, boolean ended, String detail) {
		if (this.phase == Phase.WAITING) {
			this.loop.stop();
			this.roster.completeExceptionally(new EOFException("lost rank 0 during rendezvous: " + detail));
		}
		else if (this.phase == Phase.FORMED) {
			if (ended) {
				this.control.events().closedByKernel(0);
			}
			this.phase = Phase.ALONE;
			this.control.rankZeroLost(detail);
		}
	}

	@Override
	public void silent(int rankZero, String detail) {
		this.loop.send(0, new Leave(detail, true));
		this.loop.dismiss(0);
		disconnected(0, false, detail);
	}

	@Override
	public void ended() {
		this.roster.completeExceptionally(new EOFException("the control thread ended"));
		if (this.phase == Phase.FORMED) {
			this.control.rankZeroLost("this rank's control thread ended");
		}
	}

	// RankControl.Uplink, from any thread

	@Override
	public void send(Request request) {
		this.loop.execute(() -> {
			switch (this.phase) {
				case FORMED -> this.loop.send(0, request);
				case ALONE -> this.control.resolveLocally(request);
				case WAITING, LEAVING -> {
				}
			}
		});
	}

	@Override
	public void execute(Runnable task) {
		this.loop.execute(task);
	}

	@Override
	public void leave() {
		this.loop.execute(() -> {
			this.phase = Phase.LEAVING;
			this.loop.send(0, new Leave(this.gaveUp, false));
			this.loop.finish();
		});
		this.loop.join();
	}

}
