package io.tutti.training;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.tutti.DataType;

/**
 * Assigns parameters to gradient buckets of one element type each. Parameters are taken
 * in the order in which the backward pass is expected to complete their gradients. A
 * bucket is closed before it would exceed its size, and buckets are in the order in which
 * they are closed or run out of parameters. The plan depends only on the arguments, so
 * that all ranks compute the same plan.
 *
 * @param buckets for each bucket the indices of its parameters, the largest first
 */
record BucketPlan(List<List<Integer>> buckets) {

	/**
	 * A parameter's gradient.
	 *
	 * @param index index of the parameter
	 * @param bytes size of the gradient
	 * @param type element type
	 * @param late whether some ranks may not compute it; such gradients are in the last
	 * buckets, since a bucket delays those behind it
	 */
	record Part(int index, long bytes, DataType type, boolean late) {

	}

	/** A bucket that can take more parameters. */
	private static final class Open {

		private final List<Integer> members = new ArrayList<>();

		private long bytes;

	}

	/**
	 * Plans buckets.
	 * @param parts the gradients in their expected order, late ones last
	 * @param firstBytes maximum size of the first bucket
	 * @param bucketBytes maximum size of the others; a larger parameter gets its own
	 * bucket
	 */
	static BucketPlan of(List<Part> parts, long firstBytes, long bucketBytes) {
		List<List<Integer>> buckets = new ArrayList<>();
		Map<DataType, Open> open = new LinkedHashMap<>();
		boolean late = false;
		for (Part part : parts) {
			if (part.late() && !late) {
				closeAll(open, buckets);
				late = true;
			}
			Open bucket = open.remove(part.type());
			long limit = buckets.isEmpty() ? Math.min(firstBytes, bucketBytes) : bucketBytes;
			if (bucket != null && bucket.bytes + part.bytes() > limit) {
				close(bucket, buckets);
				bucket = null;
			}
			bucket = (bucket != null) ? bucket : new Open();
			bucket.members.add(part.index());
			bucket.bytes += part.bytes();
			open.put(part.type(), bucket);
		}
		closeAll(open, buckets);
		return new BucketPlan(List.copyOf(buckets));
	}

	private static void closeAll(Map<DataType, Open> open, List<List<Integer>> buckets) {
		open.values().forEach((bucket) -> close(bucket, buckets));
		open.clear();
	}

	private static void close(Open bucket, List<List<Integer>> buckets) {
		bucket.members.sort(Comparator.reverseOrder());
		buckets.add(List.copyOf(bucket.members));
	}

}
