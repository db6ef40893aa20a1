package io.tutti.engine.dispatch;

import java.time.Duration;
import java.util.Objects;

import io.tutti.engine.spi.Deadline;

/**
 * Options of the calls on one view of a group.
 *
 * @param timeout time limit of a call, at most 292 years, so that it fits nanoseconds
 * @param timeoutNanos the same in nanoseconds
 * @param label label of the calls, empty for none
 */
record CallOptions(Duration timeout, long timeoutNanos, String label) {

	private static final int MAX_LABEL_CHARACTERS = 200;

	static CallOptions of(Duration timeout, String label) {
		Objects.requireNonNull(timeout, "timeout must not be null");
		long nanos = Deadline.nanosOf(timeout);
		return new CallOptions(Duration.ofNanos(nanos), nanos, label);
	}

	CallOptions withTimeout(Duration other) {
		return of(other, this.label);
	}

	CallOptions withLabel(String other) {
		Objects.requireNonNull(other, "label must not be null; pass an empty one for none");
		if (other.length() > MAX_LABEL_CHARACTERS) {
			throw new IllegalArgumentException(
					"label must have at most " + MAX_LABEL_CHARACTERS + " characters, got " + other.length());
		}
		return new CallOptions(this.timeout, this.timeoutNanos, other);
	}

}
