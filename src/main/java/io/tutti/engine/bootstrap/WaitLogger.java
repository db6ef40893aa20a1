package io.tutti.engine.bootstrap;

import java.time.Duration;
import java.util.function.Supplier;

import io.tutti.engine.Deadline;
import io.tutti.engine.control.ControlListener;

/**
 * Tells an operator what a rank still waits for and until when: first after some seconds,
 * then after twice as long each time, since a thousand ranks may wait together.
 */
final class WaitLogger {

	private static final long FIRST_NANOS = Duration.ofSeconds(5).toNanos();

	/** Of a short time to wait the first note comes after this part. */
	private static final int SHARE = 4;

	private final int rank;

	private final ControlListener events;

	private final Deadline deadline;

	private long dueNanos;

	private boolean told;

	WaitLogger(int rank, ControlListener events, Deadline deadline) {
		this.rank = rank;
		this.events = events;
		this.deadline = deadline;
		this.dueNanos = Math.min(FIRST_NANOS, deadline.timeout().toNanos() / SHARE);
	}

	/** Time until the next note, or until the deadline where that comes first. */
	long nanosUntilDue() {
		return Math.max(0, Math.min(this.dueNanos - this.deadline.elapsedNanos(), this.deadline.remainingNanos()));
	}

	/**
	 * Tells what is waited for, if it is time.
	 * @param what follows the rank's name, as in "waits for rank 2"
	 */
	void tell(Supplier<String> what) {
		long elapsedNanos = this.deadline.elapsedNanos();
		if (elapsedNanos >= this.dueNanos && !this.deadline.expired()) {
			this.dueNanos = 2 * elapsedNanos;
			publish("rank " + this.rank + " " + what.get() + "; it gives up in "
					+ RendezvousFailure.seconds(this.deadline.remaining()) + " (tutti.timeout.rendezvous)");
		}
	}

	/**
	 * Ranks other than 0 may log only what is wrong: once they tell it as that, since
	 * somebody may look at one rank's log alone.
	 */
	private void publish(String message) {
		if (this.rank != 0 && !this.told) {
			this.events.warn(message);
		}
		else {
			this.events.note(message);
		}
		this.told = true;
	}

}
