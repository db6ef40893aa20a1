package io.tutti.benchmark;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.engine.ProcessGroup;

/**
 * The two buffers that all workloads of a benchmark use, as large as the largest needs.
 */
final class Buffers implements AutoCloseable {

	private static final long ALIGNMENT = 4096;

	private final Arena arena = Arena.ofShared();

	private final MemorySegment send;

	private final MemorySegment receive;

	/** A collective call where the engine's memory is asked for. */
	Buffers(ProcessGroup group, BufferKind kind, long bytes) {
		this.send = allocate(group, kind, bytes);
		this.receive = allocate(group, kind, bytes);
	}

	private MemorySegment allocate(ProcessGroup group, BufferKind kind, long bytes) {
		return switch (kind) {
			case PRIVATE -> this.arena.allocate(bytes, ALIGNMENT);
			case ENGINE -> group.allocate(bytes);
		};
	}

	/** The first bytes of what a rank gives. */
	MemorySegment send(long bytes) {
		return this.send.asSlice(0, bytes);
	}

	/** The first bytes of what a rank gets. */
	MemorySegment receive(long bytes) {
		return this.receive.asSlice(0, bytes);
	}

	/** Gives private memory back; the engine's ends with its group. */
	@Override
	public void close() {
		this.arena.close();
	}

}
