package io.tutti.service.rest;

import java.time.Duration;

import io.swagger.v3.oas.annotations.media.Schema;
import io.tutti.engine.control.RoundWait;
import io.tutti.service.http.BodyLength;
import io.tutti.service.http.ClientConnection;
import jakarta.servlet.http.HttpServletRequest;
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
		@Schema(description = "Label of the barrier", minLength = 1, maxLength = 256,
				requiredMode = Schema.RequiredMode.REQUIRED) @Nullable String label,
		@Schema(description = "Round of the label, the same on every rank. A repeated call of the last round gets the same answer. Without it, a rank's k-th call joins the k-th round",
				minimum = "0", maximum = "9007199254740991") @Nullable Long round,
		@Schema(description = "Timeout in milliseconds; default: the collective timeout", minimum = "1",
				maximum = "86400000") @Nullable Long timeoutMs)
		implements
			JsonRequest {

	private static final int MAX_LABEL = 256;

	/** Beyond this, a JSON number is not exact in every language. */
	private static final long MAX_ROUND = (1L << 53) - 1;

	private static final long MAX_TIMEOUT_MS = Duration.ofDays(1).toMillis();

	/**
	 * Validates the request.
	 * @param otherwise timeout if the request has none
	 * @param http the request, whose client may disconnect
	 * @throws ProblemException if the label is missing, blank or too long, a number out
	 * of range, or the round missing over HTTP/2
	 */
	RoundWait wait(Duration otherwise, HttpServletRequest http) {
		String named = Arguments.text("label", this.label, MAX_LABEL);
		long number = (this.round != null) ? Arguments.inRange("round", this.round, 0, MAX_ROUND) : RoundWait.NEXT;
		Duration timeout = (this.timeoutMs != null)
				? Duration.ofMillis(Arguments.inRange("timeoutMs", this.timeoutMs, 1, MAX_TIMEOUT_MS)) : otherwise;
		if (number == RoundWait.NEXT && BodyLength.isHttp2(http)) {
			throw ProblemException.invalidArgument(
					"over HTTP/2 a call must name its round, because a client that disconnects is not detected");
		}
		return new RoundWait(named, number, timeout, ClientConnection.probe(http));
	}

}
