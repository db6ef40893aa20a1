package io.tutti.service.rest;

import io.swagger.v3.oas.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * A request to the whole group.
 *
 * @param reason reason for it, 1 to 1000 characters; every rank reports it
 */
record ControlRequest(@Schema(description = "The reason, which every rank reports", minLength = 1, maxLength = 1000,
		requiredMode = Schema.RequiredMode.REQUIRED) @Nullable String reason) implements JsonRequest {

	private static final int MAX_REASON = 1000;

	/**
	 * The reason, on one line.
	 * @throws ProblemException if it is missing, blank or too long
	 */
	String checkedReason() {
		return Arguments.text("reason", this.reason, MAX_REASON).strip().replaceAll("[\\p{C}\\p{Z}\\s]+", " ");
	}

}
