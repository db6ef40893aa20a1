package io.tutti.training;

/**
 * How gradients are gathered and reduced; the same on every rank.
 *
 * @param bucketBytes size that a bucket of gradients is filled to; a parameter larger
 * than that has a bucket of its own
 * @param scaling how the ranks' gradients become one
 * @param overlap whether a bucket is reduced as soon as its gradients are complete, while
 * the backward pass goes on; allows one backward pass per step
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

	/** Buckets of 25 MiB, averaged, overlapping with the backward pass. */
	public static DataParallelSettings defaults() {
		return new DataParallelSettings(DEFAULT_BUCKET_BYTES, GradientScaling.AVERAGE, true);
	}

	/** The same with buckets of another size. */
	public DataParallelSettings withBucketBytes(long bytes) {
		return new DataParallelSettings(bytes, this.scaling, this.overlap);
	}

	/** The same with another scaling. */
	public DataParallelSettings withScaling(GradientScaling other) {
		return new DataParallelSettings(this.bucketBytes, other, this.overlap);
	}

	/** The same with or without overlap. */
	public DataParallelSettings withOverlap(boolean wanted) {
		return new DataParallelSettings(this.bucketBytes, this.scaling, wanted);
	}

}
