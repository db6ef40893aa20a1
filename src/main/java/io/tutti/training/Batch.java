package io.tutti.training;

import java.util.Arrays;

import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Samples that a task computes at once on one rank, at least one.
 */
public final class Batch {

	private final int[] samples;

	private final TrainingDevice device;

	private @Nullable Tensor indices;

	private long selectionNanos;

	/**
	 * Creates a batch, as a job does for each step.
	 * @param samples indices of the samples, from 0
	 * @param device where the task computes
	 * @throws IllegalArgumentException if there are no samples
	 */
	public Batch(int[] samples, TrainingDevice device) {
		if (samples.length == 0) {
			throw new IllegalArgumentException("a batch has at least one sample");
		}
		this.samples = samples;
		this.device = device;
	}

	/**
	 * {@return the number of samples}
	 */
	public int size() {
		return this.samples.length;
	}

	/**
	 * Indices of the samples, from 0; a copy.
	 * @return the indices
	 */
	public int[] samples() {
		return this.samples.clone();
	}

	/**
	 * Indices of the samples as an int64 tensor of shape {@code [size]} on the device.
	 * @return the tensor, which belongs to the batch
	 */
	public Tensor indices() {
		if (this.indices == null) {
			long start = System.nanoTime();
			this.indices = this.device.take(torch.tensor(Arrays.stream(this.samples).asLongStream().toArray()));
			this.selectionNanos += System.nanoTime() - start;
		}
		return this.indices;
	}

	/**
	 * The rows of these samples.
	 * @param all one row per sample in the first dimension, on the device
	 * @return the rows, in the order of the samples, which the caller closes
	 */
	public Tensor of(Tensor all) {
		Tensor selected = indices();
		long start = System.nanoTime();
		Tensor rows = all.index_select(0, selected);
		this.selectionNanos += System.nanoTime() - start;
		return rows;
	}

	/**
	 * {@return nanoseconds spent in this object's methods}
	 */
	public long selectionNanos() {
		return this.selectionNanos;
	}

}
