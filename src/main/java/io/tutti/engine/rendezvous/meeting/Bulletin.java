package io.tutti.engine.rendezvous.meeting;

import java.time.Duration;

import io.tutti.engine.rendezvous.control.PeerBoard;
import io.tutti.engine.rendezvous.wire.ControlMessage.Awaiting;
import io.tutti.engine.rendezvous.wire.ControlMessage.Sightings;

/**
 * How often rank 0 tells everybody about everybody. Its length grows with the ranks, and
 * so does the time between.
 */
final class Bulletin {

	private static final long INTERVAL_NANOS = Duration.ofSeconds(1).toNanos();

	private static final long INTERVAL_NANOS_PER_RANK = Duration.ofMillis(5).toNanos();

	/** How much sooner a change is told. */
	private static final int CHANGE_DIVISOR = 10;

	private final Members members;

	private final WaitNotes notes;

	private final long intervalNanos;

	private boolean changed;

	private long toldNanos;

	Bulletin(Members members, int worldSize, WaitNotes notes, long nowNanos) {
		this.members = members;
		this.notes = notes;
		this.intervalNanos = Math.max(INTERVAL_NANOS, INTERVAL_NANOS_PER_RANK * worldSize);
		this.toldNanos = nowNanos;
	}

	/** A rank has come or gone. */
	void changed() {
		this.changed = true;
	}

	/** While ranks gather: who is missing. */
	void tellAbsence(Seats seats, MeetingAddress point) {
		if (this.changed) {
			this.changed = false;
			this.members.broadcast(new Awaiting(seats.absence(), false));
		}
		this.notes.tell(() -> "waits at " + point + " for " + seats.absence().describe());
	}

	/** Once all have met: who was last heard of when. */
	void tellSightings(PeerBoard board, long nowNanos) {
		long due = this.changed ? this.intervalNanos / CHANGE_DIVISOR : this.intervalNanos;
		if (nowNanos - this.toldNanos >= due) {
			this.toldNanos = nowNanos;
			this.changed = false;
			this.members.broadcast(new Sightings(board.sightings()));
		}
	}

}
