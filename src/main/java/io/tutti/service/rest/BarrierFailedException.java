package io.tutti.service.rest;

import java.time.Duration;

import io.tutti.engine.control.BarrierOutcome;

/**
 * A labelled barrier that was broken by a deadline, before or after this rank arrived.
 * The group is intact.
 */
final class BarrierFailedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final transient BarrierOutcome outcome;

	private final transient Duration timeout;

	BarrierFailedException(BarrierOutcome outcome, Duration timeout) {
		super(describe(outcome));
		this.outcome = outcome;
		this.timeout = timeout;
	}

	BarrierOutcome outcome() {
		return this.outcome;
	}

	Duration timeout() {
		return this.timeout;
	}

	private static String describe(BarrierOutcome outcome) {
		String barrier = "barrier " + outcome.label() + " #" + outcome.round();
		return switch (outcome.result()) {
			case PASSED -> barrier + " passed";
			case BROKEN -> barrier + ": a deadline passed, waiting for ranks " + outcome.missingRanks();
			case LATE, WITHDRAWN ->
				barrier + " had been broken by a deadline before this rank came; its next call of the label"
						+ " joins the next barrier";
		};
	}

}
