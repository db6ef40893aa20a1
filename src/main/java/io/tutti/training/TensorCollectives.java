package io.tutti.training;

import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.RankOutOfRangeException;
import io.tutti.ReduceOp;
import io.tutti.engine.device.DeviceBuffer;
import io.tutti.engine.device.DeviceCollectives;
import io.tutti.engine.device.DeviceDataType;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Collectives on libtorch tensors of any layout, such as channels-last or a slice. Values
 * are exchanged in element order, so ranks may differ in strides; a tensor that is not
 * contiguous is copied for that. Results have the shape of the argument, and its strides
 * if it is dense in memory (that of a slice is dense). Each method is a collective of the
 * group: every rank calls it with the same shape and element type. Another number of
 * elements is detected, another shape of as many elements is not. Calls wait for the
 * result and are not recorded by autograd. A call that changes a tensor which a later
 * backward pass needs makes that pass fail, as libtorch's in-place operations do. Sparse
 * tensors are refused.
 * <p>
 * Element types are float32, float64, float16, bfloat16, int8, uint8, int32 and int64;
 * broadcast and all-gather accept any other type as bytes, too. Arguments are checked
 * first; failures are those of {@link ProcessGroup}. After a failure the values of a
 * tensor that is changed in place are undefined. A call on a GPU first waits for all work
 * queued on that GPU, on every stream. Safe for any number of threads, as the group is,
 * but a tensor must not be used by others during a call.
 */
public final class TensorCollectives {

	private final ProcessGroup group;

	private final @Nullable DeviceCollectives onDevice;

	/**
	 * Collectives on tensors in main memory.
	 * @param group the ranks
	 */
	public TensorCollectives(ProcessGroup group) {
		this(group, null);
	}

	/**
	 * Collectives on tensors in main memory and on GPUs.
	 * @param group the ranks
	 * @param onDevice the same group's collectives on device memory, {@code null} to
	 * refuse tensors on a GPU
	 * @throws IllegalArgumentException if {@code onDevice} is of another group
	 */
	public TensorCollectives(ProcessGroup group, @Nullable DeviceCollectives onDevice) {
		if (onDevice != null) {
			onDevice.requireGroup(group);
		}
		this.group = group;
		this.onDevice = onDevice;
	}

	/**
	 * The reduction of all ranks' tensors.
	 * @param tensor this rank's operand, the same shape and type on every rank; left as
	 * it is
	 * @param op any operator; bit-wise and logical ones need an integer type
	 * @return a new tensor of the same shape and, if the argument is dense in memory,
	 * strides, detached; the caller closes it
	 * @throws IllegalArgumentException if the element type cannot be reduced
	 */
	public Tensor allReduce(Tensor tensor, ReduceOp op) {
		requireDense(tensor);
		requireReducible(tensor);
		return intoCopy(tensor, (copy) -> allReduceInPlace(copy, op));
	}

	/**
	 * Replaces a tensor by the reduction of all ranks' tensors.
	 * @param tensor this rank's operand, the same shape and type on every rank
	 * @param op any operator; bit-wise and logical ones need an integer type
	 * @throws IllegalArgumentException if the element type cannot be reduced, or elements
	 * of the tensor share memory
	 */
	public void allReduceInPlace(Tensor tensor, ReduceOp op) {
		requireDense(tensor);
		DataType type = requireReducible(tensor);
		inElementOrder(tensor, (values) -> {
			DeviceCollectives device = deviceOf(values);
			if (device == null) {
				this.group.allReduce(TensorMemory.of(values), type, op);
				return;
			}
			device.allReduceInPlace(buffer(values, type), op);
		});
	}

	/**
	 * The root's tensor.
	 * @param tensor the values on the root; on other ranks a tensor of the same shape and
	 * type; left as it is
	 * @param root the rank whose values every rank gets
	 * @return a new tensor of the argument's shape and, if it is dense in memory,
	 * strides, detached; the caller closes it
	 */
	public Tensor broadcast(Tensor tensor, int root) {
		requireDense(tensor);
		return intoCopy(tensor, (copy) -> broadcastInPlace(copy, root));
	}

	/**
	 * Replaces a tensor by the root's.
	 * @param tensor the values on the root, which do not change, though a later backward
	 * pass that needs them fails there as on other ranks; on these a tensor of the same
	 * shape and type
	 * @param root the rank whose values every rank gets
	 * @throws IllegalArgumentException if elements of the tensor share memory
	 */
	public void broadcastInPlace(Tensor tensor, int root) {
		requireDense(tensor);
		RankOutOfRangeException.check("root", root, this.group.worldSize());
		DataType type = movableType(tensor);
		inElementOrder(tensor, (values) -> {
			DeviceCollectives device = deviceOf(values);
			if (device == null) {
				this.group.broadcast(TensorMemory.of(values), type, root);
				return;
			}
			device.broadcastInPlace(buffer(values, type), root);
		});
	}

	/**
	 * The tensors of all ranks, stacked.
	 * @param tensor this rank's part, the same shape and type on every rank; left as it
	 * is
	 * @return a new tensor of shape {@code [worldSize, shape of the argument…]} in
	 * row-major order, rank {@code r}'s part at index {@code r}; the caller closes it
	 */
	public Tensor allGather(Tensor tensor) {
		requireDense(tensor);
		long[] shape = tensor.shape();
		long[] whole = new long[shape.length + 1];
		whole[0] = this.group.worldSize();
		System.arraycopy(shape, 0, whole, 1, shape.length);
		try (NoGradGuard _ = new NoGradGuard(); TensorOptions options = tensor.options()) {
			return filled(torch.empty(whole, options, null), (all) -> {
				try (Tensor own = all.select(0, this.group.rank())) {
					own.copy_(tensor);
				}
				allGatherInPlace(all);
			});
		}
	}

	/**
	 * Fills a tensor with the parts of all ranks.
	 * @param tensor one part per rank along the first dimension, in rank order, the same
	 * shape and type on every rank; only this rank's part is read
	 * @throws IllegalArgumentException if the first dimension is not a multiple of the
	 * world size, or elements of the tensor share memory
	 */
	public void allGatherInPlace(Tensor tensor) {
		requireDense(tensor);
		long ranks = this.group.worldSize();
		if (tensor.dim() == 0 || tensor.size(0) % ranks != 0) {
			throw new IllegalArgumentException("rank " + this.group.rank()
					+ ": the first dimension must be a multiple of " + ranks + " (one part per rank), got "
					+ ((tensor.dim() == 0) ? "a tensor without dimensions" : String.valueOf(tensor.size(0))));
		}
		DataType type = movableType(tensor);
		inElementOrder(tensor, (values) -> {
			DeviceCollectives device = deviceOf(values);
			if (device == null) {
				long bytes = TensorMemory.of(values).byteSize() / ranks;
				this.group.allGather(TensorMemory.of(values).asSlice(this.group.rank() * bytes, bytes),
						TensorMemory.of(values), type);
				return;
			}
			device.allGatherInPlace(buffer(values, type));
		});
	}

	private static Tensor intoCopy(Tensor tensor, Consumer<Tensor> call) {
		try (NoGradGuard _ = new NoGradGuard(); Tensor detached = tensor.detach()) {
			return filled(detached.clone(), call);
		}
	}

	/** The result of a call, which is closed if the call fails. */
	private static Tensor filled(Tensor result, Consumer<Tensor> call) {
		try {
			call.accept(result);
			return result;
		}
		catch (RuntimeException | Error ex) {
			result.close();
			throw ex;
		}
	}

	/**
	 * Runs a call on the tensor's values in row-major order, and stores the result. On a
	 * GPU the values may still be computed or copied, on any stream of libtorch.
	 */
	private void inElementOrder(Tensor tensor, Consumer<Tensor> call) {
		requireOwnElements(tensor);
		if (!tensor.is_cpu() && this.onDevice == null) {
			throw new UnsupportedOperationException("rank " + this.group.rank()
					+ ": the tensor is not in main memory; create the collectives with the group's DeviceCollectives");
		}
		try (NoGradGuard _ = new NoGradGuard(); Tensor values = TensorMemory.inElementOrder(tensor)) {
			if (!values.is_cpu()) {
				torch.cuda_synchronize(ParameterPlacement.of(values).index());
			}
			call.accept(values);
			if (TensorMemory.address(values) == TensorMemory.address(tensor)) {
				TensorMemory.recordWrite(tensor);
			}
			else {
				tensor.copy_(values);
			}
		}
	}

	/** Elements that share memory cannot hold different results. */
	private void requireOwnElements(Tensor tensor) {
		if (TensorMemory.sharesElements(tensor)) {
			throw new IllegalArgumentException(
					"rank " + this.group.rank() + ": elements of the tensor share memory or may do so, by its strides "
							+ TensorMemory.joined(TensorMemory.strides(tensor)) + "; pass a clone");
		}
	}

	private void requireDense(Tensor tensor) {
		Objects.requireNonNull(tensor, () -> "rank " + this.group.rank() + ": tensor must not be null");
		torch.Layout layout = tensor.layout().intern();
		if (layout != torch.Layout.Strided) {
			throw new IllegalArgumentException("rank " + this.group.rank()
					+ ": tensors must be dense, got one of layout " + layout + ": pass its to_dense()");
		}
	}

	private @Nullable DeviceCollectives deviceOf(Tensor values) {
		return values.is_cpu() ? null : this.onDevice;
	}

	private static DeviceBuffer buffer(Tensor values, DataType type) {
		long count = values.numel() * values.element_size() / type.bytes();
		return DeviceBuffer.wrap(ParameterPlacement.of(values).index(), TensorMemory.address(values), count,
				DeviceDataType.of(type));
	}

	private DataType requireReducible(Tensor tensor) {
		return type(tensor).orElseThrow(() -> new IllegalArgumentException("rank " + this.group.rank() + ": tensors of "
				+ tensor.scalar_type().intern() + " cannot be reduced; convert it to one of float32, float64, "
				+ "float16, bfloat16, int8, uint8, int32, int64"));
	}

	/** Other types are moved as bytes. */
	private static DataType movableType(Tensor tensor) {
		return type(tensor).orElse(DataType.UINT8);
	}

	private static Optional<DataType> type(Tensor tensor) {
		return switch (tensor.scalar_type().intern()) {
			case Char -> Optional.of(DataType.INT8);
			case Byte -> Optional.of(DataType.UINT8);
			case Int -> Optional.of(DataType.INT32);
			case Long -> Optional.of(DataType.INT64);
			default -> TensorMemory.type(tensor);
		};
	}

}
