package io.tutti.training;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.Work;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Gradient memory of parameters in main memory.
 */
final class HostGradients implements GradientMemory {

	/** Alignment of PyTorch's allocator, enough for every vector unit. */
	private static final long ALIGNMENT = 64;

	private final ProcessGroup group;

	private final Arena arena = Arena.ofShared();

	HostGradients(ProcessGroup group) {
		this.group = group;
	}

	/** The group packs the small ones of a list by itself. */
	@Override
	public boolean prefersPacked() {
		return false;
	}

	@Override
	public boolean overlaps(int coresPerRank) {
		return coresPerRank > torch.get_num_threads();
	}

	@Override
	public MemorySegment allocate(long bytes) {
		return this.arena.allocate(bytes, ALIGNMENT);
	}

	@Override
	public MemorySegment onHost(MemorySegment numbers) {
		return numbers;
	}

	@Override
	public void send(MemorySegment onHost, MemorySegment numbers) {
		// The values are already in place.
	}

	@Override
	public void fetch(MemorySegment numbers, MemorySegment onHost) {
		// The values are already in place.
	}

	@Override
	public void allReduce(List<MemorySegment> buffers, DataType type, ReduceOp op) {
		this.group.allReduce(buffers, type, op);
	}

	@Override
	public @Nullable Work<Void> allReduceAsync(List<MemorySegment> buffers, DataType type, ReduceOp op) {
		return this.group.allReduceAsync(buffers, type, op);
	}

	@Override
	public void close() {
		this.arena.close();
	}

}
