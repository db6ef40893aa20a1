package io.tutti.training;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.engine.DataType;
import io.tutti.engine.ProcessGroup;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;

/**
 * Gives every rank rank 0's values of a tensor, whatever its element type; through main
 * memory where it is on a GPU, since it happens once.
 */
final class TensorBroadcast {

	private static final int ROOT = 0;

	private TensorBroadcast() {
	}

	/** Replaces the values by rank 0's. A collective call, unless there are no values. */
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

	/** Collectives move whole 32-bit elements: what is not, travels in a padded copy. */
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
