package io.tutti.service.rest;

import io.swagger.v3.oas.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * A request to the whole group.
 *
 * @param reason reason for it, 1 to 1000 characters; every rank reports it
 */
record ControlRequest(@Schema(description = "Why; every rank tells it", minLength = 1, maxLength = 1000,
		requiredMode = Schema.RequiredMode.REQUIRED) @Nullable String reason) {

	private static final int MAX_REASON = 1000;

	/**
	 * The reason, on one line.
	 * @throws InvalidArgumentException if it is missing, blank or too long
	 */
	String checkedReason() {
		if (this.reason == null || this.reason.isBlank()) {
			throw new InvalidArgumentException(
					"reason must have 1 to " + MAX_REASON + " characters that are not all blank");
		}
		if (this.reason.length() > MAX_REASON) {
			throw new InvalidArgumentException(
					"reason must have 1 to " + MAX_REASON + " characters, got " + this.reason.length());
		}
		return this.reason.strip().replaceAll("[\\p{C}\\p{Z}\\s]+", " ");
	}

}
