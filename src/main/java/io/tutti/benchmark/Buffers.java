package io.tutti.benchmark;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.ProcessGroup;

/**
 * The send and receive buffers that all workloads of a benchmark share, with the size of
 * the largest workload.
 */
final class Buffers implements AutoCloseable {

	private static final long ALIGNMENT = 4096;

	private final Arena arena = Arena.ofShared();

	private final MemorySegment send;

	private final MemorySegment receive;

	/** Allocates the buffers. A collective call for {@link BufferKind#ENGINE}. */
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

	/** The first bytes of the send buffer. */
	MemorySegment send(long bytes) {
		return this.send.asSlice(0, bytes);
	}

	/** The first bytes of the receive buffer. */
	MemorySegment receive(long bytes) {
		return this.receive.asSlice(0, bytes);
	}

	/** Frees private memory. The group frees engine memory when it closes. */
	@Override
	public void close() {
		this.arena.close();
	}

}
