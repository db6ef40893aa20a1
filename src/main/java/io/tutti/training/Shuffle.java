package io.tutti.training;

import java.util.Random;

/**
 * Orders that follow from a seed alone, the same on every rank and every machine:
 * {@link Random}'s sequence is part of its specification.
 */
final class Shuffle {

	/** The stream that cuts training from test rows; epochs take the streams from 0. */
	static final int SPLIT = -1;

	/** An odd constant of the golden ratio, which sets neighbouring streams far apart. */
	private static final long STREAM_STRIDE = 0x9E3779B97F4A7C15L;

	private Shuffle() {
	}

	/** The numbers from 0 in some order. */
	static int[] order(int count, long seed, int stream) {
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
