package io.tutti.training;

import java.util.ArrayList;
import java.util.List;

/**
 * Assigns parameters to gradient buckets. Parameters are taken from the last to the
 * first, since the backward pass completes their gradients in about that order. A bucket
 * is closed before it would exceed its size. The plan depends on sizes only, so that all
 * ranks compute the same plan.
 *
 * @param buckets for each bucket the indices of its parameters, in their order in memory
 */
record BucketPlan(List<List<Integer>> buckets) {

	/**
	 * Plans buckets.
	 * @param parameterBytes size of each parameter's gradient
	 * @param bucketBytes maximum size of a bucket; a larger parameter gets its own bucket
	 */
	static BucketPlan of(List<Long> parameterBytes, long bucketBytes) {
		List<List<Integer>> buckets = new ArrayList<>();
		List<Integer> bucket = new ArrayList<>();
		long filled = 0;
		for (int parameter = parameterBytes.size() - 1; parameter >= 0; parameter--) {
			long bytes = parameterBytes.get(parameter);
			if (!bucket.isEmpty() && filled + bytes > bucketBytes) {
				buckets.add(List.copyOf(bucket));
				bucket.clear();
				filled = 0;
			}
			bucket.add(parameter);
			filled += bytes;
		}
		if (!bucket.isEmpty()) {
			buckets.add(List.copyOf(bucket));
		}
		return new BucketPlan(List.copyOf(buckets));
	}

}
