package io.tutti.training;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.Work;
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
	public void allReduce(MemorySegment gradients, ReduceOp op) {
		this.group.allReduce(gradients, DataType.FLOAT32, op);
	}

	@Override
	public @Nullable Work<Void> allReduceAsync(MemorySegment gradients, ReduceOp op) {
		return this.group.allReduceAsync(gradients, DataType.FLOAT32, op);
	}

	@Override
	public void abort(String reason) {
		this.group.abort("rank " + this.group.rank() + ": " + reason);
	}

	@Override
	public void close() {
		this.arena.close();
	}

}
