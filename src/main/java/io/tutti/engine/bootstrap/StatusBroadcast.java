package io.tutti.engine.bootstrap;

import java.time.Duration;

import io.tutti.engine.control.PeerTable;
import io.tutti.engine.control.ControlMessage.Awaiting;
import io.tutti.engine.control.ControlMessage.PeerUpdate;

/**
 * How often rank 0 tells everybody about everybody. Its length grows with the ranks, and
 * so does the time between.
 */
final class StatusBroadcast {

	private static final long INTERVAL_NANOS = Duration.ofSeconds(1).toNanos();

	private static final long INTERVAL_NANOS_PER_RANK = Duration.ofMillis(5).toNanos();

	/** How much sooner a change is told. */
	private static final int CHANGE_DIVISOR = 10;

	private final RankConnections connections;

	private final WaitLogger waitLogger;

	private final long intervalNanos;

	private boolean changed;

	private long toldNanos;

	StatusBroadcast(RankConnections connections, int worldSize, WaitLogger waitLogger, long nowNanos) {
		this.connections = connections;
		this.waitLogger = waitLogger;
		this.intervalNanos = Math.max(INTERVAL_NANOS, INTERVAL_NANOS_PER_RANK * worldSize);
		this.toldNanos = nowNanos;
	}

	/** A rank has come or gone. */
	void changed() {
		this.changed = true;
	}

	/** While ranks gather: who is missing. */
	void tellAbsence(RankTable rankTable, RendezvousAddress point) {
		if (this.changed) {
			this.changed = false;
			this.connections.broadcast(new Awaiting(rankTable.absence(), false));
		}
		this.waitLogger.tell(() -> "waits at " + point + " for " + rankTable.absence().describe());
	}

	/** Once all have met: who was last heard of when. */
	void tellSightings(PeerTable board, long nowNanos) {
		long due = this.changed ? this.intervalNanos / CHANGE_DIVISOR : this.intervalNanos;
		if (nowNanos - this.toldNanos >= due) {
			this.toldNanos = nowNanos;
			this.changed = false;
			this.connections.broadcast(new PeerUpdate(board.peerUpdate()));
		}
	}

}
