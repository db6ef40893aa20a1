package io.tutti.service.rest;

import io.tutti.Failure;
import io.tutti.GroupState;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.control.RoundWait;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.GroupSnapshot;
import io.tutti.service.group.GroupUnavailableException;

import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;

/**
 * Adds this rank's identity to problems, and converts the state of the group to a
 * problem.
 */
final class ProblemFactory {

	private static final String GENERATION = "generation";

	private static final String COLLECTIVE = "collective";

	private static final String ELAPSED = "elapsedMs";

	private static final String TIMEOUT = "timeoutMs";

	private final GroupLifecycle group;

	ProblemFactory(GroupLifecycle group) {
		this.group = group;
	}

	/** Adds this rank's identity, and a type, hint and detail where Spring set none. */
	ProblemDetail complete(ProblemDetail problem) {
		if (isBlank(problem)) {
			String title = problem.getTitle();
			ProblemType.of(HttpStatusCode.valueOf(problem.getStatus())).apply(problem);
			if (problem.getDetail() == null) {
				problem.setDetail(problem.getTitle());
			}
			problem.setTitle(title);
		}
		GroupSnapshot now = this.group.snapshot();
		problem.setProperty("rank", now.assignment().rank());
		problem.setProperty("worldSize", now.assignment().worldSize());
		JoinedGroup joined = now.joined();
		if (joined != null && !has(problem, GENERATION)) {
			problem.setProperty(GENERATION, joined.world().generation());
		}
		return problem;
	}

	private static boolean has(ProblemDetail problem, String member) {
		return problem.getProperties() != null && problem.getProperties().containsKey(member);
	}

	private static boolean isBlank(ProblemDetail problem) {
		return problem.getType() == null || "about:blank".equals(problem.getType().toString());
	}

	/** The group has not formed, is broken or was left. */
	ProblemException unavailable(GroupUnavailableException ex) {
		Failure failure = ex.status().failure();
		// READY: a new generation has formed since the request was read.
		boolean forming = ex.status().state() == GroupState.FORMING || ex.status().state() == GroupState.READY;
		ProblemType type = (failure != null && !forming) ? ProblemType.of(failure.kind())
				: ProblemType.GROUP_NOT_FORMED;
		ProblemException problem = new ProblemException(HttpStatus.SERVICE_UNAVAILABLE, type,
				String.valueOf(ex.getMessage()))
			.member("state", ex.status().state());
		if (failure != null) {
			describe(problem, failure);
		}
		else {
			hint(problem, ex.status().state());
		}
		boolean formsAgain = forming || this.group.formsAgainAfter(failure);
		return formsAgain ? problem.retryWhenFormed() : problem;
	}

	/** The group has not formed, is broken or was left, so that a call failed. */
	ProblemException unavailable(GroupUnavailableException ex, RunningCall call) {
		ProblemException problem = unavailable(ex).member(GENERATION, call.generation().world().generation())
			.member("label", call.round().label());
		if (call.round().round() != RoundWait.NEXT) {
			problem.member("round", call.round().round());
		}
		return has(problem.getBody(), COLLECTIVE) ? problem
				: problem.member(COLLECTIVE, call.collective())
					.member(ELAPSED, call.deadline().elapsed().toMillis())
					.member(TIMEOUT, call.deadline().timeout().toMillis());
	}

	/** A group that did not form, or that this rank has left, is never ready again. */
	private static void hint(ProblemException problem, GroupState state) {
		switch (state) {
			case BROKEN -> problem.member("hint", "Check the log of this rank, then start the job again");
			case CLOSED -> problem.member("hint", "Start the job again: this rank does not join the group again");
			case FORMING, READY -> {
			}
		}
	}

	private static void describe(ProblemException problem, Failure failure) {
		problem.member("group", failure.group());
		if (failure.kind() == Failure.Kind.PEER_LOST || failure.kind() == Failure.Kind.TIMEOUT) {
			problem.member("missingRanks", failure.ranks());
		}
		if (failure.collective() != null) {
			problem.member(COLLECTIVE, failure.collective().label())
				.member("sequence", failure.sequence())
				.member(ELAPSED, failure.elapsed().toMillis())
				.member(TIMEOUT, failure.timeout().toMillis());
		}
	}

}
