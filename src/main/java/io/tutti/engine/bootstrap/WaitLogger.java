package io.tutti.engine.bootstrap;

import java.time.Duration;
import java.util.function.Supplier;

import io.tutti.engine.control.ControlListener;
import io.tutti.engine.spi.Deadline;

/**
 * Logs what a rank still waits for and until when: first after some seconds, then at
 * doubling intervals, since a thousand ranks may wait at once.
 */
final class WaitLogger {

	private static final long FIRST_NANOS = Duration.ofSeconds(5).toNanos();

	/** The first message of a short wait comes after this part of it. */
	private static final int SHARE = 4;

	private final int rank;

	private final ControlListener events;

	private final Deadline deadline;

	private long dueNanos;

	private boolean logged;

	WaitLogger(JoinRequest request) {
		this.rank = request.assignment().rank();
		this.events = request.events();
		this.deadline = request.deadline();
		this.dueNanos = Math.min(FIRST_NANOS, this.deadline.timeout().toNanos() / SHARE);
	}

	/** Time until the next message, or until the deadline where that comes first. */
	long nanosUntilDue() {
		return Math.max(0, Math.min(this.dueNanos - this.deadline.elapsedNanos(), this.deadline.remainingNanos()));
	}

	/**
	 * Logs what the rank waits for, if a note is due.
	 * @param what follows the rank's name, as in "waits for rank 2"
	 */
	void log(Supplier<String> what) {
		long elapsedNanos = this.deadline.elapsedNanos();
		if (elapsedNanos >= this.dueNanos && !this.deadline.expired()) {
			this.dueNanos = 2 * elapsedNanos;
			publish("rank " + this.rank + " " + what.get() + "; the deadline is in "
					+ RendezvousFailure.seconds(this.deadline.remaining()) + " (tutti.timeout.rendezvous)");
		}
	}

	/**
	 * Ranks other than 0 may log warnings only. Their first message is a warning, so that
	 * the log of one rank alone shows the wait.
	 */
	private void publish(String message) {
		if (this.rank != 0 && !this.logged) {
			this.events.warn(message);
		}
		else {
			this.events.note(message);
		}
		this.logged = true;
	}

}
