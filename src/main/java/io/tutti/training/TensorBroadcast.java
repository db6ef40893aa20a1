package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;

/**
 * Broadcasts one rank's values of tensors of any element types. Tensors on a GPU are
 * copied through main memory: when a model is wrapped, and in each step of a
 * {@link ShardedOptimizer} or with {@link DataParallelSettings#broadcastsBuffers()}.
 */
final class TensorBroadcast {

	private TensorBroadcast() {
	}

	/**
	 * Replaces the values by the root's. A collective call.
	 * @param tensors of the same shapes and strides on every rank
	 */
	static void from(int root, ProcessGroup group, List<Tensor> tensors) {
		List<MemorySegment> memories = new ArrayList<>();
		List<Tensor> written = new ArrayList<>();
		List<Copy> copies = new ArrayList<>();
		try (NoGradGuard _ = new NoGradGuard()) {
			for (Tensor tensor : tensors) {
				if (tensor.numel() == 0) {
					continue;
				}
				boolean inMemoryOrder = tensor.is_cpu() && tensor.is_non_overlapping_and_dense();
				if (inMemoryOrder && TensorMemory.holdsValues(tensor)) {
					memories.add(TensorMemory.of(tensor));
					written.add(tensor);
					continue;
				}
				Copy copy = Copy.of(tensor, inMemoryOrder);
				copies.add(copy);
				memories.add(TensorMemory.of(copy.values()));
			}
			group.broadcast(memories, DataType.UINT8, root);
			written.forEach(TensorMemory::recordWrite);
			copies.forEach((copy) -> copy.tensor().copy_(copy.values()));
		}
		finally {
			copies.forEach(Copy::close);
		}
	}

	/**
	 * A tensor's values in main memory. Where other ranks may broadcast the tensor itself
	 * they are in its order, otherwise row-major.
	 */
	private record Copy(Tensor tensor, Tensor values) {

		static Copy of(Tensor tensor, boolean inMemoryOrder) {
			// A scope of the caller would hold the copy until it closes.
			try (PointerScope _ = new PointerScope()) {
				Tensor values = inMemoryOrder ? TensorMemory.resolved(tensor) : TensorMemory.values(tensor);
				values.retainReference();
				return new Copy(tensor, values);
			}
		}

		void close() {
			this.values.releaseReference();
		}

	}

}
