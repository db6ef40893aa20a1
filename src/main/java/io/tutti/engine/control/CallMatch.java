package io.tutti.engine.control;

import java.util.Map;

import io.tutti.engine.spi.CallSignature;

/**
 * How ranks that announced a call before making it were matched, as rank 0 saw it.
 *
 * @param meeting who came to the label, as at a barrier
 * @param order the call's place among all that were matched, from 0; -1 if it must not be
 * made, since not every rank came or not all announced the same
 * @param calls what was announced, by rank; empty for a rank that came late
 */
public record CallMatch(BarrierOutcome meeting, long order, Map<Integer, CallSignature> calls) {

	/** In place of an order: the call must not be made. */
	public static final long NOT_MATCHED = -1;

	public CallMatch {
		calls = Map.copyOf(calls);
	}

	/** Whether every rank announced the same call: all of them may make it now. */
	public boolean matched() {
		return this.order >= 0;
	}

}
