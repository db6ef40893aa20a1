package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What all ranks together say of a step. It travels with the gradients, so that all ranks
 * agree on stopping after the same step at no cost.
 *
 * @param lossSum sum of the losses of the global batch, before the step
 * @param stop whether any rank asks to stop after the step
 */
record StepTotals(double lossSum, boolean stop) {

	/** How many numbers this takes. */
	static final int NUMBERS = 2;

	private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

	/** Writes what one rank says. */
	static void write(MemorySegment numbers, double lossSum, boolean stop) {
		numbers.setAtIndex(FLOAT, 0, (float) lossSum);
		numbers.setAtIndex(FLOAT, 1, stop ? 1 : 0);
	}

	/** Reads the sum over all ranks. */
	static StepTotals read(MemorySegment numbers) {
		return new StepTotals(numbers.getAtIndex(FLOAT, 0), numbers.getAtIndex(FLOAT, 1) > 0);
	}

}
