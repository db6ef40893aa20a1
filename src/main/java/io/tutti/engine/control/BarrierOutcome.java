package io.tutti.engine.control;

import java.util.List;

/**
 * How a labelled barrier ended for one rank, as rank 0 saw it.
 *
 * @param result whether the rank went through, or why not
 * @param label the label
 * @param round which barrier of that label, from 0
 * @param arrived how many ranks came
 * @param waitedMillis how long this rank waited
 * @param skewMillis by rank, how long after the first rank each came; -1 for a rank that
 * did not
 * @param missingRanks the ranks that had not come when the first deadline passed
 */
public record BarrierOutcome(Result result, String label, long round, int arrived, long waitedMillis,
		List<Long> skewMillis, List<Integer> missingRanks) {

	/** How a barrier can end. */
	public enum Result {

		/** Every rank came. */
		PASSED,
		/** A deadline passed before every rank had come. */
		BROKEN,
		/** This rank came to a barrier that had been broken without it. */
		LATE,
		/** This rank's call was withdrawn before every rank had come. */
		WITHDRAWN

	}

	public BarrierOutcome {
		skewMillis = List.copyOf(skewMillis);
		missingRanks = List.copyOf(missingRanks);
	}

	/** The same end for a rank that waited so long. */
	public BarrierOutcome afterWaiting(long millis) {
		return new BarrierOutcome(this.result, this.label, this.round, this.arrived, millis, this.skewMillis,
				this.missingRanks);
	}

}
