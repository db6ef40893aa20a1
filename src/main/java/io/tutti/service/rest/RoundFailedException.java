package io.tutti.service.rest;

import java.time.Duration;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.spi.CallSignature;

import org.springframework.http.HttpStatus;

/**
 * A round of a labelled barrier or collective that a deadline broke, before or after this
 * rank arrived, or in which ranks called different collectives. The group is intact.
 */
final class RoundFailedException extends ProblemException {

	private static final long serialVersionUID = 1L;

	private RoundFailedException(HttpStatus status, ProblemType type, String detail, String collective,
			BarrierOutcome outcome, Duration timeout) {
		super(status, type, detail);
		if (outcome.result() == BarrierOutcome.Result.LATE) {
			member("hint", "Call again: the next call of the label joins the next round; give the other ranks a longer"
					+ " timeoutMs if this rank is often late");
		}
		member("collective", collective).member("label", outcome.label())
			.member("round", outcome.round())
			.member("missingRanks", outcome.missingRanks())
			.member("elapsedMs", outcome.waitedMillis())
			.member("timeoutMs", timeout.toMillis());
	}

	static ProblemException ofBarrier(BarrierOutcome outcome, Duration timeout) {
		return new RoundFailedException(status(outcome), ProblemType.COLLECTIVE_TIMEOUT,
				"barrier " + outcome.label() + " #" + outcome.round() + reason(outcome), "barrier", outcome, timeout)
			.member("arrived", outcome.arrived());
	}

	static ProblemException ofCall(CallSignature call, CallMatch match, Duration timeout) {
		BarrierOutcome outcome = match.outcome();
		boolean mismatch = outcome.result() == BarrierOutcome.Result.PASSED;
		String detail = call.collective() + " of label " + outcome.label() + ", round " + outcome.round() + (mismatch
				? ": ranks called different collectives: " + CallText.difference(match.calls()) : reason(outcome));
		return new RoundFailedException(mismatch ? HttpStatus.CONFLICT : status(outcome),
				mismatch ? ProblemType.COLLECTIVE_MISMATCH : ProblemType.COLLECTIVE_TIMEOUT, detail,
				call.collective().label(), outcome, timeout)
			.member("calls", CallText.byRank(match.calls()));
	}

	private static HttpStatus status(BarrierOutcome outcome) {
		return (outcome.result() == BarrierOutcome.Result.BROKEN) ? HttpStatus.GATEWAY_TIMEOUT : HttpStatus.CONFLICT;
	}

	private static String reason(BarrierOutcome outcome) {
		return (outcome.result() == BarrierOutcome.Result.BROKEN)
				? ": a deadline passed while waiting for ranks " + outcome.missingRanks()
				: ": a deadline broke it before this rank arrived; this rank's next call of the label joins the next round";
	}

}
