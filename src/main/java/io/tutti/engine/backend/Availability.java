package io.tutti.engine.backend;

import org.jspecify.annotations.Nullable;

/**
 * Whether this process can use a backend, and the reason.
 *
 * @param available whether the backend can be used
 * @param reason what was found, such as a library's version, or what is missing
 * @param action the action to take, as a sentence with no full stop; {@code null} if none
 * is needed
 */
public record Availability(boolean available, String reason, @Nullable String action) {

	/** The backend can be used. */
	public static Availability yes(String reason) {
		return new Availability(true, reason, null);
	}

	/** The backend cannot be used. */
	public static Availability no(String reason, String action) {
		return new Availability(false, reason, action);
	}

	/** The answer in words, such as {@code yes: TCP and shared memory}. */
	@Override
	public String toString() {
		return (this.available ? "yes: " : "no: ") + this.reason;
	}

}
