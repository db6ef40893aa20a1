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

	private final ProcessGroup group;

	private final BufferKind kind;

	private final MemorySegment send;

	private final MemorySegment receive;

	/** Allocates the buffers. A collective call for {@link BufferKind#ENGINE}. */
	Buffers(ProcessGroup group, BufferKind kind, long bytes) {
		this.group = group;
		this.kind = kind;
		this.send = allocate(bytes);
		this.receive = allocate(bytes);
	}

	private MemorySegment allocate(long bytes) {
		return switch (this.kind) {
			case PRIVATE -> this.arena.allocate(bytes, ALIGNMENT);
			case ENGINE -> this.group.allocate(bytes);
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

	/**
	 * Frees engine memory. A collective call, so that it is for a group that works; the
	 * group also frees it when it closes.
	 */
	void free() {
		if (this.kind == BufferKind.ENGINE) {
			this.group.free(this.send);
			this.group.free(this.receive);
		}
	}

	/** Frees private memory. */
	@Override
	public void close() {
		this.arena.close();
	}

}
