package io.tutti.training;

import org.bytedeco.pytorch.Tensor;

/**
 * Changes what the ranks send of a bucket's gradients: compresses, scales or perturbs
 * them. Called once per bucket and step, without autograd, on the thread that computes
 * the backward pass or calls {@link DistributedDataParallel#synchronizeGradients()}.
 * Every rank gets the same reduced values, so the replicas stay identical if
 * {@link #afterReduction} is deterministic. A failure aborts the group; the other ranks
 * get the name of the hook and of the bucket's first parameter. {@link WireFormat} has
 * the built-in hooks.
 */
public interface BucketHook {

	/**
	 * {@return a name that must be the same on every rank, with all settings of the hook}
	 */
	String name();

	/**
	 * The values to reduce in place of a bucket's gradients.
	 * @param gradients this rank's gradients in the memory of the bucket, in one
	 * dimension; may be changed
	 * @return the same tensor, or a contiguous one on its device, of type float16,
	 * bfloat16, float32 or float64, with the same type and size on every rank
	 */
	Tensor beforeReduction(Tensor gradients);

	/**
	 * Writes the gradients of all ranks.
	 * @param reduced the tensor of {@link #beforeReduction} with the reduced values
	 * @param gradients the memory of the bucket
	 */
	void afterReduction(Tensor reduced, Tensor gradients);

}
