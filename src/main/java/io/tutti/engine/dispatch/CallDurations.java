package io.tutti.engine.dispatch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A histogram of the durations of ended calls, with fixed bounds of 1 and 3 per decade
 * from 1 µs to 100 s.
 *
 * @param counts calls by bound, not cumulative; the last element counts calls longer than
 * the last bound
 * @param nanos total time of the calls
 */
public record CallDurations(List<Long> counts, long nanos) {

	private static final long[] BOUNDS = bounds();

	/** Number of counts. */
	static final int BUCKETS = BOUNDS.length + 1;

	/** No calls. */
	static final CallDurations NONE = new CallDurations(new long[BUCKETS], 0, 0);

	public CallDurations {
		counts = List.copyOf(counts);
	}

	/** Reads the counts from {@code words[from]} on. */
	CallDurations(long[] words, int from, long nanos) {
		this(Arrays.stream(words, from, from + BUCKETS).boxed().toList(), nanos);
	}

	/** The inclusive upper bounds in nanoseconds, ascending. */
	public static long[] boundsNanos() {
		return BOUNDS.clone();
	}

	/** Index of the count for a duration. Short durations take the fewest comparisons. */
	static int bucket(long nanos) {
		int bucket = 0;
		while (bucket < BOUNDS.length && nanos > BOUNDS[bucket]) {
			bucket++;
		}
		return bucket;
	}

	/** Number of calls. */
	public long count() {
		return this.counts.stream().mapToLong(Long::longValue).sum();
	}

	/** The sum of both. */
	CallDurations plus(CallDurations other) {
		List<Long> sum = new ArrayList<>(BUCKETS);
		for (int bucket = 0; bucket < BUCKETS; bucket++) {
			sum.add(this.counts.get(bucket) + other.counts.get(bucket));
		}
		return new CallDurations(sum, this.nanos + other.nanos);
	}

	private static long[] bounds() {
		List<Long> bounds = new ArrayList<>();
		for (long decade = 1_000; decade < 100_000_000_000L; decade *= 10) {
			bounds.add(decade);
			bounds.add(3 * decade);
		}
		bounds.add(100_000_000_000L);
		return bounds.stream().mapToLong(Long::longValue).toArray();
	}

}
