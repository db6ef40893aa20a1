package io.tutti.engine.bootstrap;

import java.time.Duration;
import java.util.function.Predicate;

import io.tutti.engine.control.RecordedControlEvents;
import io.tutti.engine.spi.Deadline;

/**
 * Records the events of a rank other than 0. Its deadline passes once it has logged a
 * message that shows how far it has come; after a fixed time it may be anywhere on a busy
 * machine.
 */
final class PassingDeadline extends RecordedControlEvents {

	/** A rank that has waited for this long logs what it waits for. */
	static final Duration UNTIL_LOGGED = Duration.ofSeconds(5);

	final Deadline deadline = Deadline.after(TestWorld.WAIT_LIMIT);

	private final Predicate<String> last;

	/**
	 * @param elapsed how long the rank has waited at the start
	 * @param last whether a message is the last one before the deadline. Called on the
	 * thread that waits.
	 */
	PassingDeadline(Duration elapsed, Predicate<String> last) {
		this.deadline.restart(System.nanoTime() - elapsed.toNanos(), TestWorld.WAIT_LIMIT.toNanos());
		this.last = last;
	}

	@Override
	public void note(String message) {
		super.note(message);
		passAfter(message);
	}

	@Override
	public void warn(String message) {
		super.warn(message);
		passAfter(message);
	}

	private void passAfter(String message) {
		if (this.last.test(message)) {
			this.deadline.restart(System.nanoTime(), 1);
		}
	}

}
