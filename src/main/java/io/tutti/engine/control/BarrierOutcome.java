package io.tutti.engine.control;

import java.util.List;

/**
 * The outcome of a labelled barrier for one rank, as determined by rank 0.
 *
 * @param result whether the rank passed the barrier, or why not
 * @param label the label
 * @param round the round of that label, from 0
 * @param arrived number of ranks that entered
 * @param waitedMillis how long this rank waited
 * @param skewMillis by rank, the time after the first rank at which it entered; -1 for a
 * rank that did not
 * @param missingRanks the ranks that had not entered when the first deadline passed
 */
public record BarrierOutcome(Result result, String label, long round, int arrived, long waitedMillis,
		List<Long> skewMillis, List<Integer> missingRanks) {

	/** The result of a barrier. */
	public enum Result {

		/** Every rank entered. */
		PASSED,
		/** A deadline passed before every rank had entered. */
		BROKEN,
		/** This rank entered a round that had broken before. */
		LATE,
		/** This rank's call was withdrawn before the barrier passed. */
		WITHDRAWN

	}

	public BarrierOutcome {
		skewMillis = List.copyOf(skewMillis);
		missingRanks = List.copyOf(missingRanks);
	}

	/** This outcome with a rank's waiting time. */
	public BarrierOutcome afterWaiting(long millis) {
		return new BarrierOutcome(this.result, this.label, this.round, this.arrived, millis, this.skewMillis,
				this.missingRanks);
	}

}
