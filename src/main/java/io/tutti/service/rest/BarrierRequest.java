package io.tutti.service.rest;

import java.time.Duration;
import java.util.function.BooleanSupplier;

import io.swagger.v3.oas.annotations.media.Schema;
import io.tutti.engine.control.RoundWait;
import org.jspecify.annotations.Nullable;

/**
 * A call of a labelled barrier.
 *
 * @param label which barrier, 1 to 256 characters
 * @param round which round of the label, as every rank names it; the rank's next one by
 * default
 * @param timeoutMs how long to wait, in milliseconds; the collective timeout by default
 */
record BarrierRequest(
		@Schema(description = "Which barrier", minLength = 1, maxLength = 256,
				requiredMode = Schema.RequiredMode.REQUIRED) @Nullable String label,
		@Schema(description = "Which round of the label, as every rank names it. A repeated call of the last round gets the same answer. Without it a rank's k-th call joins the k-th round",
				minimum = "0", maximum = "9007199254740991") @Nullable Long round,
		@Schema(description = "How long to wait, in milliseconds; the collective timeout by default", minimum = "1",
				maximum = "86400000") @Nullable Long timeoutMs) {

	private static final int MAX_LABEL = 256;

	/** Beyond this, a JSON number is not exact in every language. */
	private static final long MAX_ROUND = (1L << 53) - 1;

	private static final long MAX_TIMEOUT_MS = Duration.ofDays(1).toMillis();

	/**
	 * Validates the request.
	 * @param otherwise timeout if the request has none
	 * @param client whether the client is still connected, {@code null} if unknown
	 * @throws InvalidArgumentException if the label is missing, blank or too long, or a
	 * number out of range
	 */
	RoundWait wait(Duration otherwise, @Nullable BooleanSupplier client) {
		return new RoundWait(checkedLabel(), checkedRound(), checkedTimeout(otherwise), client);
	}

	private long checkedRound() {
		if (this.round == null) {
			return RoundWait.NEXT;
		}
		if (this.round < 0 || this.round > MAX_ROUND) {
			throw new InvalidArgumentException("round must be in 0.." + MAX_ROUND + ", got " + this.round);
		}
		return this.round;
	}

	private String checkedLabel() {
		if (this.label == null || this.label.isBlank()) {
			throw new InvalidArgumentException("label must have 1 to " + MAX_LABEL + " characters that are not blank");
		}
		if (this.label.length() > MAX_LABEL) {
			throw new InvalidArgumentException(
					"label must have 1 to " + MAX_LABEL + " characters, got " + this.label.length());
		}
		return this.label;
	}

	private Duration checkedTimeout(Duration otherwise) {
		if (this.timeoutMs == null) {
			return otherwise;
		}
		if (this.timeoutMs < 1 || this.timeoutMs > MAX_TIMEOUT_MS) {
			throw new InvalidArgumentException("timeoutMs must be in 1.." + MAX_TIMEOUT_MS + ", got " + this.timeoutMs);
		}
		return Duration.ofMillis(this.timeoutMs);
	}

}
