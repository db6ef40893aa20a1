package io.tutti.training;

import java.util.Arrays;
import java.util.function.Supplier;

import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * A data set as tensors: features of samples x columns, and one class label per sample.
 */
final class SampleTensors implements AutoCloseable {

	private final TrainingDevice device;

	private final Tensor features;

	private final Tensor labels;

	private long selectionNanos;

	SampleTensors(Dataset data, TrainingDevice device) {
		this.device = device;
		try (Tensor flat = torch.tensor(data.features())) {
			this.features = device.take(flat.view(data.rows(), data.columns()));
		}
		this.labels = device.take(torch.tensor(Arrays.stream(data.labels()).asLongStream().toArray()));
	}

	/** Features of the samples with the given indices. */
	Tensor features(Tensor indices) {
		return timed(() -> this.features.index_select(0, indices));
	}

	/** Labels of the samples with the given indices. */
	Tensor labels(Tensor indices) {
		return timed(() -> this.labels.index_select(0, indices));
	}

	/** Features of a range of samples, without a copy. */
	Tensor features(Share share) {
		return this.features.narrow(0, share.from(), share.size());
	}

	/** Labels of a range of samples, without a copy. */
	Tensor labels(Share share) {
		return this.labels.narrow(0, share.from(), share.size());
	}

	/** Indices of the samples in a share of an order. */
	Tensor indices(int[] order, Share share) {
		return timed(() -> this.device
			.take(torch.tensor(Arrays.stream(order, share.from(), share.to()).asLongStream().toArray())));
	}

	/** Total time spent on selecting samples by index. */
	long selectionNanos() {
		return this.selectionNanos;
	}

	private Tensor timed(Supplier<Tensor> selection) {
		long start = System.nanoTime();
		Tensor selected = selection.get();
		this.selectionNanos += System.nanoTime() - start;
		return selected;
	}

	@Override
	public void close() {
		this.features.close();
		this.labels.close();
	}

}
