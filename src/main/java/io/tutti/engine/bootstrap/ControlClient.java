package io.tutti.engine.bootstrap;

import java.io.EOFException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.tutti.engine.control.ControlConnection;
import io.tutti.engine.control.ControlListener;
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
import io.tutti.engine.control.RendezvousSettings;
import io.tutti.engine.control.labelled.LabelledWaits;
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

	ControlClient(ControlConnection connection, int rank, int worldSize, RendezvousSettings settings,
			ControlListener events) throws IOException {
		this.connection = connection;
		this.rankZeroHost = RendezvousAddress.text(connection.remote().getAddress());
		this.peers = new PeerTable(worldSize, System::nanoTime);
		this.peers.received(0);
		this.control = new RankControl(rank, events, this.peers, this,
				new LabelledWaits(rank, worldSize, this, settings.heartbeat()));
		this.loop = new ControlLoop("tutti-r" + rank + "-control", this.peers, this.control.events(),
				settings.heartbeat(), this);
	}

	/**
	 * Starts to wait for the other ranks.
	 * @return the roster; an {@link IOException} if the connection was lost before
	 */
	CompletableFuture<Roster> start() throws IOException {
		this.loop.add(this.connection);
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
	public void receive(ControlConnection rankZero, ControlMessage message) throws MalformedFrameException {
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
		this.connection.close();
		switch (this.phase) {
			case WAITING -> {
				this.control.events().withdrew(0);
				this.loop.stop();
			}
			case FORMED, ALONE -> this.phase = Phase.ALONE;
			case LEAVING -> this.loop.stop();
		}
	}

	@Override
	public void disconnected(ControlConnection rankZero, boolean ended, String detail) {
		switch (this.phase) {
			case WAITING -> {
				this.loop.stop();
				this.roster.completeExceptionally(new EOFException("lost rank 0 during rendezvous: " + detail));
			}
			case FORMED -> {
				if (ended) {
					this.control.events().ended(0);
				}
				this.phase = Phase.ALONE;
				this.control.rankZeroLost(detail);
			}
			case ALONE -> {
			}
			case LEAVING -> this.loop.stop();
		}
	}

	@Override
	public void silent(ControlConnection rankZero, String detail) {
		rankZero.send(new Leave(detail));
		rankZero.close();
		disconnected(rankZero, false, detail);
	}

	@Override
	public void ended() {
		this.connection.close();
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
				case FORMED -> this.connection.send(request);
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
			if (this.phase == Phase.ALONE) {
				this.loop.stop();
				return;
			}
			this.phase = Phase.LEAVING;
			this.connection.send(new Leave(this.gaveUp));
			this.connection.finish();
			this.loop.stopAfterLinger();
		});
		this.loop.join();
	}

}
