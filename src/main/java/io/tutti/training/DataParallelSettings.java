package io.tutti.training;

/**
 * How gradients are put into buckets and reduced. Must be the same on every rank.
 *
 * @param bucketBytes maximum size of a bucket of gradients, at least 4; a larger
 * parameter gets its own bucket
 * @param scaling how the ranks' gradients are combined
 * @param overlap whether a bucket is reduced as soon as its gradients are complete, while
 * the backward pass continues; allows one backward pass per step
 */
public record DataParallelSettings(long bucketBytes, GradientScaling scaling, boolean overlap) {

	/** Large enough for full bandwidth, small enough to start early; PyTorch's choice. */
	public static final long DEFAULT_BUCKET_BYTES = 25L << 20;

	public DataParallelSettings {
		if (bucketBytes < Float.BYTES) {
			throw new IllegalArgumentException(
					"bucket size must be at least " + Float.BYTES + " bytes, got " + bucketBytes);
		}
	}

	/** Buckets of 25 MiB, averaged gradients, overlap with the backward pass. */
	public static DataParallelSettings defaults() {
		return new DataParallelSettings(DEFAULT_BUCKET_BYTES, GradientScaling.AVERAGE, true);
	}

	/** A copy with another bucket size. */
	public DataParallelSettings withBucketBytes(long bytes) {
		return new DataParallelSettings(bytes, this.scaling, this.overlap);
	}

	/** A copy with another scaling. */
	public DataParallelSettings withScaling(GradientScaling other) {
		return new DataParallelSettings(this.bucketBytes, other, this.overlap);
	}

	/** A copy with overlap on or off. */
	public DataParallelSettings withOverlap(boolean wanted) {
		return new DataParallelSettings(this.bucketBytes, this.scaling, wanted);
	}

}
