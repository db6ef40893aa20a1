package io.tutti.service.rest;

import java.time.Duration;

import io.swagger.v3.oas.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * A call of a labelled barrier.
 *
 * @param label which barrier, 1 to 256 characters
 * @param timeoutMs how long to wait, in milliseconds; the collective timeout by default
 */
record BarrierRequest(
		@Schema(description = "Which barrier", minLength = 1, maxLength = 256,
				requiredMode = Schema.RequiredMode.REQUIRED) @Nullable String label,
		@Schema(description = "How long to wait, in milliseconds; the collective timeout by default", minimum = "1",
				maximum = "86400000") @Nullable Long timeoutMs) {

	private static final int MAX_LABEL = 256;

	private static final long MAX_TIMEOUT_MS = Duration.ofDays(1).toMillis();

	/**
	 * The label.
	 * @throws InvalidArgumentException if it is missing, blank or too long
	 */
	String checkedLabel() {
		if (this.label == null || this.label.isBlank()) {
			throw new InvalidArgumentException("label must have 1 to " + MAX_LABEL + " characters that are not blank");
		}
		if (this.label.length() > MAX_LABEL) {
			throw new InvalidArgumentException(
					"label must have 1 to " + MAX_LABEL + " characters, got " + this.label.length());
		}
		return this.label;
	}

	/**
	 * The timeout.
	 * @param otherwise what holds where none was asked for
	 * @throws InvalidArgumentException if it is out of range
	 */
	Duration checkedTimeout(Duration otherwise) {
		if (this.timeoutMs == null) {
			return otherwise;
		}
		if (this.timeoutMs < 1 || this.timeoutMs > MAX_TIMEOUT_MS) {
			throw new InvalidArgumentException("timeoutMs must be in 1.." + MAX_TIMEOUT_MS + ", got " + this.timeoutMs);
		}
		return Duration.ofMillis(this.timeoutMs);
	}

}
