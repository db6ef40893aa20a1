package io.tutti.training;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * How gradients are put into buckets and reduced. Must be the same on every rank.
 *
 * @param bucketBytes maximum size of a bucket of gradients, at least 4; a larger
 * parameter gets its own bucket. The first bucket is at most {@value #FIRST_BUCKET_BYTES}
 * bytes, so that its reduction starts early
 * @param scaling how the ranks' gradients are combined
 * @param overlap whether a bucket is reduced as soon as its gradients are complete, while
 * the backward pass continues
 * @param broadcastsBuffers whether each step ends with a broadcast of rank 0's buffers
 * @param hook changes what the ranks send of a bucket, {@code null} for the gradients
 */
public record DataParallelSettings(long bucketBytes, GradientScaling scaling, Overlap overlap,
		boolean broadcastsBuffers, @Nullable BucketHook hook) {

	/** Large enough for full bandwidth, small enough to start early; PyTorch's choice. */
	public static final long DEFAULT_BUCKET_BYTES = 25L << 20;

	/** PyTorch's choice. */
	static final long FIRST_BUCKET_BYTES = 1L << 20;

	/** Checks the values. */
	public DataParallelSettings {
		if (bucketBytes < Float.BYTES) {
			throw new IllegalArgumentException(
					"bucket size must be at least " + Float.BYTES + " bytes, got " + bucketBytes);
		}
		Objects.requireNonNull(scaling, "scaling");
		Objects.requireNonNull(overlap, "overlap");
	}

	/**
	 * Buckets of 25 MiB, averaged gradients, overlap if there is a core for it, buffers
	 * local to each rank, no hook.
	 * @return the default settings
	 */
	public static DataParallelSettings defaults() {
		return new DataParallelSettings(DEFAULT_BUCKET_BYTES, GradientScaling.AVERAGE, Overlap.AUTOMATIC, false, null);
	}

	/**
	 * A copy with another bucket size.
	 * @param bytes maximum size of a bucket in bytes, at least 4
	 * @return the changed copy; this object stays the same
	 */
	public DataParallelSettings withBucketBytes(long bytes) {
		return new DataParallelSettings(bytes, this.scaling, this.overlap, this.broadcastsBuffers, this.hook);
	}

	/**
	 * A copy with another scaling.
	 * @param other how the ranks' gradients are combined
	 * @return the changed copy; this object stays the same
	 */
	public DataParallelSettings withScaling(GradientScaling other) {
		return new DataParallelSettings(this.bucketBytes, other, this.overlap, this.broadcastsBuffers, this.hook);
	}

	/**
	 * A copy with another overlap.
	 * @param other whether buckets are reduced during the backward pass
	 * @return the changed copy; this object stays the same
	 */
	public DataParallelSettings withOverlap(Overlap other) {
		return new DataParallelSettings(this.bucketBytes, this.scaling, other, this.broadcastsBuffers, this.hook);
	}

	/**
	 * A copy that broadcasts rank 0's buffers in each step or does not.
	 * @param wanted whether each step ends with a broadcast of rank 0's buffers
	 * @return the changed copy; this object stays the same
	 */
	public DataParallelSettings withBroadcastsBuffers(boolean wanted) {
		return new DataParallelSettings(this.bucketBytes, this.scaling, this.overlap, wanted, this.hook);
	}

	/**
	 * A copy with another hook.
	 * @param other changes what the ranks send of a bucket, {@code null} for the
	 * gradients
	 * @return the changed copy; this object stays the same
	 */
	public DataParallelSettings withHook(@Nullable BucketHook other) {
		return new DataParallelSettings(this.bucketBytes, this.scaling, this.overlap, this.broadcastsBuffers, other);
	}

}
