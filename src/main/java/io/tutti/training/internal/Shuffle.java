package io.tutti.training.internal;

import java.util.Random;

/**
 * Permutations that depend on a seed only and are the same on every rank and machine: the
 * sequence of {@link Random} is part of its specification.
 */
public final class Shuffle {

	/** Stream of the split into training and test rows; epochs use the streams from 0. */
	public static final int SPLIT = -1;

	/**
	 * Odd constant from the golden ratio, which keeps the seeds of adjacent streams
	 * apart.
	 */
	private static final long STREAM_STRIDE = 0x9E3779B97F4A7C15L;

	private Shuffle() {
	}

	/** A permutation of the numbers 0 to {@code count - 1} (Fisher-Yates). */
	public static int[] order(int count, long seed, int stream) {
		Random random = new Random(seed + STREAM_STRIDE * (stream + 2L));
		int[] order = new int[count];
		for (int index = 0; index < count; index++) {
			int other = random.nextInt(index + 1);
			order[index] = order[other];
			order[other] = index;
		}
		return order;
	}

}
