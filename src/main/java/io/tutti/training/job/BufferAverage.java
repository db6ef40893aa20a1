package io.tutti.training.job;

import java.util.List;

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
 * on all ranks. After a step floating-point buffers are averaged with each rank's part of
 * the global batch as its weight, so that every sample counts the same at any world size;
 * of other buffers, such as counters, every rank takes the largest values.
 */
final class BufferAverage {

	private final ProcessGroup group;

	private final List<Tensor> floating;

	private final List<Tensor> other;

	/**
	 * Creates the average of buffers that are equal on all ranks.
	 * @param buffers the distinct buffers; the caller keeps them open
	 */
	BufferAverage(ProcessGroup group, List<Tensor> buffers) {
		this.group = group;
		List<Tensor> filled = buffers.stream().filter((buffer) -> buffer.numel() > 0).toList();
		this.floating = filled.stream().filter(Tensor::is_floating_point).toList();
		this.other = filled.stream().filter((buffer) -> !buffer.is_floating_point()).toList();
	}

	/**
	 * Combines the buffers of all ranks. A collective call, unless there are none.
	 * @param weight this rank's part of the global batch; the weights of all ranks add up
	 * to 1
	 */
	void combine(double weight) {
		if (this.group.worldSize() == 1) {
			return;
		}
		reduce(this.floating, torch.ScalarType.Double, DataType.FLOAT64, weight);
		reduce(this.other, torch.ScalarType.Long, DataType.INT64, 1);
	}

	private void reduce(List<Tensor> buffers, torch.ScalarType type, DataType dataType, double weight) {
		if (buffers.isEmpty()) {
			return;
		}
		try (PointerScope _ = new PointerScope(); NoGradGuard _ = new NoGradGuard()) {
			boolean sums = dataType == DataType.FLOAT64;
			Tensor all = flat(buffers, type);
			Tensor values = sums ? all.mul(new Scalar(weight)) : all;
			this.group.allReduce(TensorMemory.of(values), dataType, sums ? ReduceOp.SUM : ReduceOp.MAX);
			long offset = 0;
			for (Tensor buffer : buffers) {
				buffer.copy_(values.narrow(0, offset, buffer.numel()).view_as(buffer));
				offset += buffer.numel();
			}
		}
	}

	private static Tensor flat(List<Tensor> buffers, torch.ScalarType type) {
		TensorVector flat = new TensorVector(
				buffers.stream().map((buffer) -> buffer.reshape(-1).to(type)).toArray(Tensor[]::new));
		return torch.cat(flat, 0).cpu().contiguous();
	}

}
