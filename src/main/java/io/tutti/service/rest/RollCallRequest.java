package io.tutti.service.rest;

import java.time.Duration;

import io.swagger.v3.oas.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * A roll call.
 *
 * @param timeoutMs how long ranks may take to answer, in milliseconds, 1 to 30000; 2000
 * by default
 */
record RollCallRequest(@Schema(description = "Timeout of the answers in milliseconds", minimum = "1", maximum = "30000",
		defaultValue = "2000") @Nullable Long timeoutMs) implements JsonRequest {

	private static final long DEFAULT_TIMEOUT_MS = 2000;

	private static final long MAX_TIMEOUT_MS = 30_000;

	/**
	 * The timeout.
	 * @throws ProblemException if it is out of range
	 */
	Duration checkedTimeout() {
		long millis = (this.timeoutMs != null) ? this.timeoutMs : DEFAULT_TIMEOUT_MS;
		return Duration.ofMillis(Arguments.inRange("timeoutMs", millis, 1, MAX_TIMEOUT_MS));
	}

}
