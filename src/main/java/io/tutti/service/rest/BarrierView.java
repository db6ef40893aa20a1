package io.tutti.service.rest;

import java.util.List;

import io.tutti.engine.control.BarrierOutcome;

/**
 * A labelled barrier that every rank reached.
 *
 * @param label the label
 * @param round which barrier of that label, from 0
 * @param arrived how many ranks arrived
 * @param waitedMs how long this rank waited
 * @param skewMs by rank, how long after the first rank each arrived
 */
record BarrierView(String label, long round, int arrived, long waitedMs, List<Long> skewMs) {

	static BarrierView of(BarrierOutcome outcome) {
		return new BarrierView(outcome.label(), outcome.round(), outcome.arrived(), outcome.waitedMillis(),
				outcome.skewMillis());
	}

}
