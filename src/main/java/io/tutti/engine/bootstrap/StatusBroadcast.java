package io.tutti.engine.bootstrap;

import java.time.Duration;

import io.tutti.engine.control.ControlLoop;
import io.tutti.engine.control.ControlMessage.Awaiting;
import io.tutti.engine.control.ControlMessage.PeerUpdate;
import io.tutti.engine.control.PeerTable;

/**
 * Sends all ranks the status of all ranks. A message's length grows with the world size,
 * and so does the interval.
 */
final class StatusBroadcast {

	private static final long INTERVAL_NANOS = Duration.ofSeconds(1).toNanos();

	private static final long INTERVAL_NANOS_PER_RANK = Duration.ofMillis(5).toNanos();

	/** Part of the interval after which a change is sent. */
	private static final int CHANGE_DIVISOR = 10;

	private final ControlLoop loop;

	private final WaitLogger waitLogger;

	private final long intervalNanos;

	private boolean changed;

	private long sentNanos;

	StatusBroadcast(ControlLoop loop, int worldSize, WaitLogger waitLogger, long nowNanos) {
		this.loop = loop;
		this.waitLogger = waitLogger;
		this.intervalNanos = Math.max(INTERVAL_NANOS, INTERVAL_NANOS_PER_RANK * worldSize);
		this.sentNanos = nowNanos;
	}

	/** A rank has joined or left. */
	void changed() {
		this.changed = true;
	}

	/** Before all ranks have joined: sends the missing ranks. */
	void sendMissingRanks(RankTable rankTable, Endpoint point) {
		if (this.changed) {
			this.changed = false;
			this.loop.broadcast(new Awaiting(rankTable.absence(), false));
		}
		this.waitLogger.log(() -> "waits at " + point + " for " + rankTable.absence().describe());
	}

	/** After all ranks have joined: sends when each was last heard. */
	void sendPeerUpdate(PeerTable peers, long nowNanos) {
		long due = this.changed ? this.intervalNanos / CHANGE_DIVISOR : this.intervalNanos;
		if (nowNanos - this.sentNanos >= due) {
			this.sentNanos = nowNanos;
			this.changed = false;
			this.loop.broadcast(new PeerUpdate(peers.peerUpdate()));
		}
	}

}
