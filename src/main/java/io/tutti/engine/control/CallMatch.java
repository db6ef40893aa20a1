package io.tutti.engine.control;

import java.util.List;

import io.tutti.engine.spi.CallSignature;

/**
 * The result of matching the calls that ranks announced, as determined by rank 0.
 *
 * @param outcome the outcome of the round, as at a barrier
 * @param order the call's number among all matched calls, from 0; -1 if the call must not
 * be made, since a rank was missing or announced another call
 * @param calls the announced calls, in order of the ranks; empty for a rank that was late
 */
public record CallMatch(BarrierOutcome outcome, long order, List<Announced> calls) {

	/** The call that a rank has announced. */
	public record Announced(int rank, CallSignature call) {
	}

	/** In place of an order: the call must not be made. */
	public static final long NOT_MATCHED = -1;

	public CallMatch {
		calls = List.copyOf(calls);
	}

	/** A round without calls to be made. */
	public static CallMatch none(BarrierOutcome outcome) {
		return new CallMatch(outcome, NOT_MATCHED, List.of());
	}

	/** Whether every rank announced the same call and may make it now. */
	public boolean matched() {
		return this.order >= 0;
	}

}
