package io.tutti.service.rest;

import java.net.URI;
import java.time.Duration;

import io.tutti.Failure;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.GroupStatus;
import io.tutti.service.group.JoinedGroup;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.stereotype.Component;

/**
 * Builds problems (RFC 9457) that name the rank that reports them.
 */
@Component
final class ProblemFactory {

	private final GroupLifecycle group;

	ProblemFactory(GroupLifecycle group) {
		this.group = group;
	}

	ProblemDetail problem(HttpStatus status, ProblemType type, String detail) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
		problem.setType(type.uri());
		problem.setTitle(type.title());
		problem.setProperty("hint", type.hint());
		return spokenByThisRank(problem);
	}

	/** Problem for an unexpected exception; the cause appears only in the log. */
	ProblemDetail internal() {
		return spokenByThisRank(ProblemDetail.forStatusAndDetail(HttpStatus.INTERNAL_SERVER_ERROR,
				"an internal error; this rank's log says more"));
	}

	/**
	 * Adds the properties that all problems have to one that Spring or the web server
	 * built.
	 */
	void complete(ProblemDetail problem) {
		ProblemType type = type(HttpStatusCode.valueOf(problem.getStatus()));
		if (type != null && isBlank(problem.getType())) {
			problem.setType(type.uri());
			problem.setProperty("hint", type.hint());
		}
		spokenByThisRank(problem);
	}

	private static @Nullable ProblemType type(HttpStatusCode status) {
		if (status.isSameCodeAs(HttpStatus.SERVICE_UNAVAILABLE)) {
			return ProblemType.OVERLOADED;
		}
		if (status.isSameCodeAs(HttpStatus.NOT_FOUND)) {
			return ProblemType.NOT_FOUND;
		}
		if (status.isSameCodeAs(HttpStatus.METHOD_NOT_ALLOWED)) {
			return ProblemType.METHOD_NOT_ALLOWED;
		}
		return status.is4xxClientError() ? ProblemType.INVALID_ARGUMENT : null;
	}

	private static boolean isBlank(@Nullable URI type) {
		return type == null || "about:blank".equals(type.toString());
	}

	private ProblemDetail spokenByThisRank(ProblemDetail problem) {
		problem.setProperty("rank", this.group.assignment().rank());
		problem.setProperty("worldSize", this.group.assignment().worldSize());
		JoinedGroup joined = this.group.joined();
		if (joined != null) {
			problem.setProperty("generation", joined.world().generation());
		}
		return problem;
	}

	/** Problem for a group that is still forming, broken or closed. */
	ProblemDetail unavailable(GroupStatus status, String detail) {
		Failure failure = status.failure();
		ProblemType type = (failure != null) ? ProblemType.of(failure.kind()) : ProblemType.GROUP_NOT_FORMED;
		ProblemDetail problem = problem(HttpStatus.SERVICE_UNAVAILABLE, type, detail);
		problem.setProperty("state", status.state());
		if (failure != null) {
			describe(problem, failure);
		}
		return problem;
	}

	/** Replaces the hint for a late rank: the missing rank itself gets this problem. */
	private static void hintIfLate(ProblemDetail problem, BarrierOutcome meeting) {
		if (meeting.result() == BarrierOutcome.Result.LATE) {
			problem.setProperty("hint",
					"Call again: the next call of the label joins the next; give the others a longer"
							+ " timeoutMs if this rank is often late");
		}
	}

	/**
	 * Problem for a broken barrier: 504 for ranks that had arrived, 409 for a late rank.
	 */
	ProblemDetail barrier(BarrierFailedException ex) {
		BarrierOutcome outcome = ex.outcome();
		HttpStatus status = (outcome.result() == BarrierOutcome.Result.LATE) ? HttpStatus.CONFLICT
				: HttpStatus.GATEWAY_TIMEOUT;
		ProblemDetail problem = problem(status, ProblemType.COLLECTIVE_TIMEOUT, String.valueOf(ex.getMessage()));
		hintIfLate(problem, outcome);
		problem.setProperty("collective", "barrier");
		problem.setProperty("label", outcome.label());
		problem.setProperty("round", outcome.round());
		problem.setProperty("arrived", outcome.arrived());
		problem.setProperty("missingRanks", outcome.missingRanks());
		times(problem, Duration.ofMillis(outcome.waitedMillis()), ex.timeout());
		return problem;
	}

	/** Problem for a collective over HTTP that was not run; the group is intact. */
	ProblemDetail notMatched(CallNotMatchedException ex) {
		BarrierOutcome meeting = ex.match().outcome();
		ProblemType type = switch (meeting.result()) {
			case PASSED -> ProblemType.COLLECTIVE_MISMATCH;
			case BROKEN, LATE, WITHDRAWN -> ProblemType.COLLECTIVE_TIMEOUT;
		};
		HttpStatus status = switch (meeting.result()) {
			case PASSED, LATE, WITHDRAWN -> HttpStatus.CONFLICT;
			case BROKEN -> HttpStatus.GATEWAY_TIMEOUT;
		};
		ProblemDetail problem = problem(status, type, String.valueOf(ex.getMessage()));
		hintIfLate(problem, meeting);
		problem.setProperty("collective", ex.call().collective().label());
		problem.setProperty("label", meeting.label());
		problem.setProperty("round", meeting.round());
		problem.setProperty("missingRanks", meeting.missingRanks());
		problem.setProperty("calls", CallText.byRank(ex.match().calls()));
		times(problem, Duration.ofMillis(meeting.waitedMillis()), ex.timeout());
		return problem;
	}

	private static void describe(ProblemDetail problem, Failure failure) {
		problem.setProperty("group", failure.group());
		if (failure.collective() != null) {
			problem.setProperty("collective", failure.collective().label());
			problem.setProperty("sequence", failure.sequence());
			times(problem, failure.elapsed(), failure.timeout());
		}
		problem.setProperty("missingRanks", failure.ranks());
	}

	private static void times(ProblemDetail problem, Duration elapsed, Duration timeout) {
		problem.setProperty("elapsedMs", elapsed.toMillis());
		problem.setProperty("timeoutMs", timeout.toMillis());
	}

}
