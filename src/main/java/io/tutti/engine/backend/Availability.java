package io.tutti.engine.backend;

import org.jspecify.annotations.Nullable;

/**
 * Whether a backend can be used by this process, and the reason.
 *
 * @param available whether it can
 * @param reason what was found, such as a library's version, or what is missing
 * @param action what to do about it, as a sentence with no full stop; {@code null} where
 * nothing is to be done
 */
public record Availability(boolean available, String reason, @Nullable String action) {

	/** It can be used. */
	public static Availability yes(String reason) {
		return new Availability(true, reason, null);
	}

	/** It cannot be used. */
	public static Availability no(String reason, String action) {
		return new Availability(false, reason, action);
	}

	/** The answer in words, such as {@code yes: TCP and shared memory}. */
	@Override
	public String toString() {
		return (this.available ? "yes: " : "no: ") + this.reason;
	}

}
