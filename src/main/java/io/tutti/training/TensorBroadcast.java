package io.tutti.training;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;

/**
 * Broadcasts rank 0's values of a tensor of any element type. A tensor on a GPU is copied
 * through main memory, since this happens only once.
 */
final class TensorBroadcast {

	private static final int ROOT = 0;

	private TensorBroadcast() {
	}

	/** Replaces the values by rank 0's. A collective call, unless the tensor is empty. */
	static void fromRankZero(ProcessGroup group, Tensor tensor) {
		if (tensor.numel() == 0) {
			return;
		}
		try (NoGradGuard _ = new NoGradGuard(); Tensor here = tensor.cpu(); Tensor values = here.contiguous()) {
			broadcast(group, TensorMemory.of(values));
			if (TensorMemory.address(values) != TensorMemory.address(tensor)) {
				tensor.copy_(values);
			}
		}
	}

	/**
	 * Broadcasts whole INT32 elements; memory of another size is sent in a padded copy.
	 */
	private static void broadcast(ProcessGroup group, MemorySegment memory) {
		long bytes = memory.byteSize();
		if (bytes % Integer.BYTES == 0) {
			group.broadcast(memory, DataType.INT32, ROOT);
			return;
		}
		try (Arena arena = Arena.ofShared()) {
			MemorySegment padded = arena.allocate(bytes + Integer.BYTES - bytes % Integer.BYTES, Integer.BYTES);
			padded.copyFrom(memory);
			group.broadcast(padded, DataType.INT32, ROOT);
			memory.copyFrom(padded.asSlice(0, bytes));
		}
	}

}
