package io.tutti.engine.bootstrap;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.tutti.engine.control.ControlConnection;
import io.tutti.engine.control.ControlListener;
import io.tutti.engine.control.ControlLoop;
import io.tutti.engine.control.ControlMessage;
import io.tutti.engine.control.ControlMessage.Awaiting;
import io.tutti.engine.control.ControlMessage.RendezvousMessage;
import io.tutti.engine.control.ControlMessage.Leave;
import io.tutti.engine.control.ControlMessage.Notice;
import io.tutti.engine.control.ControlMessage.Ping;
import io.tutti.engine.control.ControlMessage.Pong;
import io.tutti.engine.control.ControlMessage.RankZeroLeft;
import io.tutti.engine.control.ControlMessage.Request;
import io.tutti.engine.control.ControlMessage.Roster;
import io.tutti.engine.control.Heartbeats;
import io.tutti.engine.control.MalformedFrameException;
import io.tutti.engine.control.PeerTable;
import io.tutti.engine.control.RankControl;
import io.tutti.engine.control.RankProgress;
import io.tutti.engine.control.RendezvousSettings;
import io.tutti.engine.control.labelled.LabelledWaits;
import org.jspecify.annotations.Nullable;

/**
 * The control connection of a rank other than 0, from the end of the handshake until one
 * side leaves. All of it runs on the control thread.
 */
final class ControlClient implements ControlLoop.Work, RankControl.Uplink {

	private static final int SCRATCH_BYTES = 16 << 10;

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

	private final Heartbeats heartbeats;

	private final RankControl control;

	private final CompletableFuture<Roster> roster = new CompletableFuture<>();

	private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES);

	private volatile @Nullable Awaiting awaiting;

	/**
	 * The reason for leaving that this rank reports, {@code null} for an orderly close.
	 */
	private volatile @Nullable String gaveUp;

	private Phase phase = Phase.WAITING;

	private long leaveByNanos;

	ControlClient(ControlConnection connection, int rank, int worldSize, RendezvousSettings settings,
			ControlListener events) throws IOException {
		this.connection = connection;
		this.loop = new ControlLoop("tutti-r" + rank + "-control");
		this.rankZeroHost = RendezvousAddress.text(connection.remote().getAddress());
		this.peers = new PeerTable(worldSize, System::nanoTime);
		this.peers.received(0);
		this.heartbeats = new Heartbeats(settings.heartbeat(), System.nanoTime());
		this.control = new RankControl(rank, events, this.peers, this,
				new LabelledWaits(rank, worldSize, this, settings.heartbeat()));
	}

	/**
	 * Starts to wait for the other ranks.
	 * @return the roster; an {@link IOException} if the connection was lost before
	 */
	CompletableFuture<Roster> start() throws IOException {
		this.connection.register(this.loop.register(this.connection.channel(), SelectionKey.OP_READ, this));
		this.loop.execute(() -> take(true));
		this.loop.start(this);
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
	public void awake() {
		this.heartbeats.awake(System.nanoTime());
	}

	@Override
	public void ready(SelectionKey key) {
		if (key.isReadable()) {
			read();
		}
		if (key.isValid() && key.isWritable()) {
			this.connection.flush();
		}
	}

	private void read() {
		try {
			boolean open = this.connection.fill(this.scratch);
			this.peers.received(0);
			take(open);
		}
		catch (IOException ex) {
			dropped("its connection failed: " + RendezvousFailure.words(ex));
		}
	}

	private void take(boolean open) {
		try {
			for (var message = this.connection.next(); message != null; message = this.connection.next()) {
				receive(message);
			}
			if (!open) {
				if (this.phase == Phase.FORMED) {
					this.control.events().ended(0);
				}
				dropped("its connection closed");
			}
		}
		catch (MalformedFrameException ex) {
			dropped("it sent a malformed message: " + ex.getMessage());
		}
	}

	private void receive(ControlMessage message) throws MalformedFrameException {
		switch (message) {
			case Ping(long sent) -> this.connection.send(new Pong(sent, this.control.events().progress()));
			case Pong(long sent, List<RankProgress> progress) -> {
				this.peers.roundTrip(0, System.nanoTime() - sent);
				this.peers.progress(0, progress);
			}
			case Awaiting news -> receive(news);
			case Roster complete -> receive(complete);
			case RankZeroLeft left -> rankZeroLeft(left);
			case Notice notice -> this.control.receive(notice);
			case RendezvousMessage _, Request _ ->
				throw new MalformedFrameException("unexpected " + message.getClass().getSimpleName());
		}
	}

	private void receive(Awaiting news) {
		Awaiting before = this.awaiting;
		this.awaiting = news;
		List<Integer> known = (before != null) ? before.absence().left() : List.of();
		news.absence().left().stream().filter((rank) -> !known.contains(rank)).forEach(this.control.events()::withdrew);
	}

	private void rankZeroLeft(RankZeroLeft left) {
		this.control.receive(left);
		if (this.phase == Phase.WAITING) {
			this.control.events().withdrew(0);
		}
		alone();
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

	private void dropped(String detail) {
		switch (this.phase) {
			case WAITING -> {
				this.connection.close();
				this.loop.stop();
				this.roster.completeExceptionally(new EOFException("lost rank 0 during rendezvous: " + detail));
			}
			case FORMED -> {
				alone();
				this.control.rankZeroLost(detail);
			}
			case ALONE -> {
			}
			case LEAVING -> this.loop.stop();
		}
	}

	private void alone() {
		this.connection.close();
		switch (this.phase) {
			case FORMED, ALONE -> this.phase = Phase.ALONE;
			case WAITING, LEAVING -> this.loop.stop();
		}
	}

	@Override
	public void tick() {
		long now = System.nanoTime();
		if (this.phase == Phase.LEAVING && now - this.leaveByNanos >= 0) {
			this.loop.stop();
		}
		if (this.phase == Phase.ALONE || this.phase == Phase.LEAVING || !this.heartbeats.beat(now)) {
			return;
		}
		if (this.heartbeats.silent(this.peers.lastReceivedNanos(0), now)) {
			String silence = this.heartbeats.describeSilence();
			this.connection.send(new Leave(silence));
			dropped(silence);
		}
		else {
			this.connection.send(new Ping(now));
		}
	}

	@Override
	public long nanosUntilDue() {
		long now = System.nanoTime();
		return switch (this.phase) {
			case WAITING, FORMED -> this.heartbeats.nanosUntilBeat(now);
			case ALONE -> Long.MAX_VALUE;
			case LEAVING -> this.leaveByNanos - now;
		};
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
			if (this.phase == Phase.ALONE || this.phase == Phase.LEAVING) {
				this.loop.stop();
				return;
			}
			this.phase = Phase.LEAVING;
			this.leaveByNanos = System.nanoTime() + ControlServer.LINGER.toNanos();
			this.connection.send(new Leave(this.gaveUp));
			this.connection.finish();
		});
		this.loop.join(ControlServer.LINGER.plusSeconds(1));
	}

}
