package io.tutti.engine.dispatch;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Buffers that one call reduces or broadcasts in place: one large buffer, or small
 * buffers that are copied side by side. Depends on the sizes alone, so it is the same on
 * every rank.
 *
 * @param buffers the buffers, in order
 * @param bytes their size together
 */
record PackedBuffers(List<MemorySegment> buffers, long bytes) {

	/** Above this size, two copies cost more than a call of its own. */
	private static final long MAX_SMALL_BYTES = 64 << 10;

	private static final long MAX_PACK_BYTES = 1 << 20;

	/**
	 * Distributes buffers over calls.
	 * @param packs whether buffers may be copied
	 * @return at least one call
	 */
	static List<PackedBuffers> of(List<MemorySegment> buffers, boolean packs) {
		List<PackedBuffers> calls = new ArrayList<>();
		List<MemorySegment> pack = new ArrayList<>();
		long bytes = 0;
		for (MemorySegment buffer : buffers) {
			if (!packs || buffer.byteSize() > MAX_SMALL_BYTES) {
				calls.add(new PackedBuffers(List.of(buffer), buffer.byteSize()));
				continue;
			}
			if (bytes + buffer.byteSize() > MAX_PACK_BYTES) {
				calls.add(new PackedBuffers(List.copyOf(pack), bytes));
				pack.clear();
				bytes = 0;
			}
			pack.add(buffer);
			bytes += buffer.byteSize();
		}
		if (!pack.isEmpty() || calls.isEmpty()) {
			calls.add(new PackedBuffers(List.copyOf(pack), bytes));
		}
		return calls;
	}

	/** Size of each buffer in bytes. */
	long[] sizes() {
		return this.buffers.stream().mapToLong(MemorySegment::byteSize).toArray();
	}

	/** The buffer to call with: the only one, or staging memory with a copy of all. */
	MemorySegment gather(StagingBuffer staging) {
		if (this.buffers.size() == 1) {
			return this.buffers.getFirst();
		}
		MemorySegment packed = staging.ofSize(this.bytes).asSlice(0, this.bytes);
		long offset = 0;
		for (MemorySegment buffer : this.buffers) {
			MemorySegment.copy(buffer, 0, packed, offset, buffer.byteSize());
			offset += buffer.byteSize();
		}
		return packed;
	}

	/** Copies the result back. */
	void scatter(MemorySegment packed) {
		if (this.buffers.size() == 1) {
			return;
		}
		long offset = 0;
		for (MemorySegment buffer : this.buffers) {
			if (!buffer.isReadOnly()) {
				MemorySegment.copy(packed, offset, buffer, 0, buffer.byteSize());
			}
			offset += buffer.byteSize();
		}
	}

}
