package io.tutti.training.job;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Totals of a step over all ranks. They are piggybacked on the gradients, so that all
 * ranks agree to stop after the same step without another collective.
 *
 * @param lossSum sum of the losses of the global batch, before the step
 * @param stop whether any rank requests a stop after the step
 */
record StepTotals(double lossSum, boolean stop) {

	/** Number of float32 values. */
	static final int NUMBERS = 2;

	private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

	/** Writes the values of one rank. */
	static void write(MemorySegment numbers, double lossSum, boolean stop) {
		numbers.setAtIndex(FLOAT, 0, (float) lossSum);
		numbers.setAtIndex(FLOAT, 1, stop ? 1 : 0);
	}

	/** Reads the sum over all ranks. */
	static StepTotals read(MemorySegment numbers) {
		return new StepTotals(numbers.getAtIndex(FLOAT, 0), numbers.getAtIndex(FLOAT, 1) > 0);
	}

}
