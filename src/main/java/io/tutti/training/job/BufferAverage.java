package io.tutti.training.job;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;

/**
 * Keeps a model's buffers, such as the running statistics of batch normalization, equal
 * on all ranks. After a step the floating-point and complex buffers that it has changed
 * on any rank are averaged with each rank's part of the global batch as its weight, so
 * that every sample counts the same at any world size; of other buffers, such as
 * counters, every rank takes the largest values of the ranks with samples. Constants,
 * such as a mask of infinite values, stay as they are.
 */
final class BufferAverage implements AutoCloseable {

	private final ProcessGroup group;

	private final List<Tensor> averaged;

	private final List<Tensor> largest;

	/** The averaged buffers after the last step, which are equal on all ranks. */
	private final List<Tensor> last;

	private long waitedNanos;

	private long allReducedBytes;

	/**
	 * Creates the average of buffers that are equal on all ranks.
	 * @param buffers the distinct buffers; the caller keeps them open
	 */
	BufferAverage(ProcessGroup group, List<Tensor> buffers) {
		this.group = group;
		List<Tensor> filled = (group.worldSize() > 1) ? buffers.stream().filter((buffer) -> buffer.numel() > 0).toList()
				: List.of();
		this.averaged = filled.stream().filter(BufferAverage::isAveraged).toList();
		this.largest = filled.stream().filter((buffer) -> !isAveraged(buffer)).toList();
		try (NoGradGuard _ = new NoGradGuard()) {
			this.last = this.averaged.stream().map(Tensor::clone).toList();
		}
	}

	private static boolean isAveraged(Tensor buffer) {
		return buffer.is_floating_point() || buffer.is_complex();
	}

	/**
	 * Combines the buffers of all ranks. A collective call, unless there are none.
	 * @param weight this rank's part of the global batch; the weights of all ranks add up
	 * to 1
	 */
	void combine(double weight) {
		if (this.averaged.isEmpty() && this.largest.isEmpty()) {
			return;
		}
		try (PointerScope _ = new PointerScope(); NoGradGuard _ = new NoGradGuard()) {
			average(takeLargest(weight), weight);
		}
	}

	/**
	 * Returns the indices of the averaged buffers that the step has changed on a rank.
	 */
	private List<Integer> takeLargest(double weight) {
		Tensor changed = torch.tensor(IntStream.range(0, this.averaged.size())
			.mapToLong((index) -> this.averaged.get(index).equal(this.last.get(index)) ? 0 : 1)
			.toArray());
		List<Tensor> all = new ArrayList<>(this.largest);
		all.add(changed);
		Tensor values = flat(all, torch.ScalarType.Long);
		if (weight == 0) {
			// Without a sample this rank has only the values before the step.
			values.narrow(0, 0, values.numel() - changed.numel()).fill_(new Scalar(Long.MIN_VALUE));
		}
		allReduce(values, DataType.INT64, ReduceOp.MAX);
		distribute(values, all);
		long[] onSomeRank = TensorMemory.of(changed).toArray(ValueLayout.JAVA_LONG);
		return IntStream.range(0, onSomeRank.length).filter((index) -> onSomeRank[index] != 0).boxed().toList();
	}

	private void average(List<Integer> changed, double weight) {
		if (changed.isEmpty()) {
			return;
		}
		List<Tensor> buffers = changed.stream().map((index) -> real(this.averaged.get(index))).toList();
		Tensor own = flat(buffers, torch.ScalarType.Double);
		// Zero times an infinite value is no number.
		Tensor values = (weight > 0) ? own.mul(new Scalar(weight)) : torch.zeros_like(own);
		allReduce(values, DataType.FLOAT64, ReduceOp.SUM);
		distribute(values, buffers);
		changed.forEach((index) -> this.last.get(index).copy_(this.averaged.get(index)));
	}

	private void allReduce(Tensor values, DataType type, ReduceOp operator) {
		long start = System.nanoTime();
		this.group.allReduce(TensorMemory.of(values), type, operator);
		this.waitedNanos += System.nanoTime() - start;
		this.allReducedBytes += values.nbytes();
	}

	/** The buffers have been replaced by others that are equal on all ranks. */
	void restart() {
		Replica.copy(this.averaged, this.last);
	}

	/** Total time in which the ranks have exchanged values. */
	long waitedNanos() {
		return this.waitedNanos;
	}

	/** Bytes that this rank has passed to all-reduces. */
	long allReducedBytes() {
		return this.allReducedBytes;
	}

	/** A complex tensor as a view of its real and imaginary parts. */
	private static Tensor real(Tensor tensor) {
		return tensor.is_complex() ? torch.view_as_real(tensor) : tensor;
	}

	/** The values of tensors on any device, in main memory. */
	private static Tensor flat(List<Tensor> tensors, torch.ScalarType type) {
		TensorVector flat = new TensorVector(
				tensors.stream().map((tensor) -> tensor.reshape(-1).cpu().to(type)).toArray(Tensor[]::new));
		return torch.cat(flat, 0).contiguous();
	}

	private static void distribute(Tensor values, List<Tensor> tensors) {
		long offset = 0;
		for (Tensor tensor : tensors) {
			tensor.copy_(values.narrow(0, offset, tensor.numel()).view_as(tensor));
			offset += tensor.numel();
		}
	}

	@Override
	public void close() {
		this.last.forEach(Tensor::close);
	}

}
