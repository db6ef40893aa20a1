package io.tutti.training;

import java.util.Objects;

/**
 * How gradients are put into buckets and reduced. Must be the same on every rank.
 *
 * @param bucketBytes maximum size of a bucket of gradients, at least 4; a larger
 * parameter gets its own bucket. The first bucket is at most {@value #FIRST_BUCKET_BYTES}
 * bytes, so that its reduction starts early
 * @param scaling how the ranks' gradients are combined
 * @param overlap whether a bucket is reduced as soon as its gradients are complete, while
 * the backward pass continues
 */
public record DataParallelSettings(long bucketBytes, GradientScaling scaling, Overlap overlap) {

	/** Large enough for full bandwidth, small enough to start early; PyTorch's choice. */
	public static final long DEFAULT_BUCKET_BYTES = 25L << 20;

	/** PyTorch's choice. */
	static final long FIRST_BUCKET_BYTES = 1L << 20;

	public DataParallelSettings {
		if (bucketBytes < Float.BYTES) {
			throw new IllegalArgumentException(
					"bucket size must be at least " + Float.BYTES + " bytes, got " + bucketBytes);
		}
		Objects.requireNonNull(scaling, "scaling");
		Objects.requireNonNull(overlap, "overlap");
	}

	/** Buckets of 25 MiB, averaged gradients, overlap if there is a core for it. */
	public static DataParallelSettings defaults() {
		return new DataParallelSettings(DEFAULT_BUCKET_BYTES, GradientScaling.AVERAGE, Overlap.AUTOMATIC);
	}

	/** A copy with another bucket size. */
	public DataParallelSettings withBucketBytes(long bytes) {
		return new DataParallelSettings(bytes, this.scaling, this.overlap);
	}

	/** A copy with another scaling. */
	public DataParallelSettings withScaling(GradientScaling other) {
		return new DataParallelSettings(this.bucketBytes, other, this.overlap);
	}

	/** A copy with another overlap. */
	public DataParallelSettings withOverlap(Overlap other) {
		return new DataParallelSettings(this.bucketBytes, this.scaling, other);
	}

}
