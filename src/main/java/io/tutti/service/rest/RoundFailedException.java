package io.tutti.service.rest;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.control.CallMatch.Announced;
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
		String detail = call.collective() + " of label " + outcome.label() + ", round " + outcome.round()
				+ (mismatch ? ": ranks called different collectives: " + difference(match.calls()) : reason(outcome));
		return new RoundFailedException(mismatch ? HttpStatus.CONFLICT : status(outcome),
				mismatch ? ProblemType.COLLECTIVE_MISMATCH : ProblemType.COLLECTIVE_TIMEOUT, detail,
				call.collective().label(), outcome, timeout)
			.member("calls", byRank(match.calls()));
	}

	private static HttpStatus status(BarrierOutcome outcome) {
		return (outcome.result() == BarrierOutcome.Result.BROKEN) ? HttpStatus.GATEWAY_TIMEOUT : HttpStatus.CONFLICT;
	}

	private static String reason(BarrierOutcome outcome) {
		return (outcome.result() == BarrierOutcome.Result.BROKEN)
				? ": a deadline passed while waiting for ranks " + outcome.missingRanks()
				: ": a deadline broke it before this rank arrived; this rank's next call of the label joins the next round";
	}

	/** The text of each rank's call, by rank. */
	private static Map<Integer, String> byRank(List<Announced> calls) {
		Map<Integer, String> words = new TreeMap<>();
		calls.forEach((one) -> words.put(one.rank(), of(one.call())));
		return words;
	}

	/** The first rank's call and the first call that differs from it. */
	private static String difference(List<Announced> calls) {
		Announced first = calls.getFirst();
		List<Announced> others = calls.stream().filter((one) -> !of(one.call()).equals(of(first.call()))).toList();
		return others.stream()
			.filter((one) -> one.call().count() >= 0)
			.findFirst()
			.or(() -> others.stream().findFirst())
			.map((other) -> text(first) + ", " + text(other))
			.orElse(text(first));
	}

	private static String text(Announced one) {
		return "rank " + one.rank() + " called " + of(one.call());
	}

	/** Such calls have no sequence number yet, so the text omits it. */
	private static String of(CallSignature call) {
		String words = call.toString().replace(" #" + call.sequence(), "");
		return (call.count() < 0) ? words.replace("count " + call.count(), "any count") : words;
	}

}
