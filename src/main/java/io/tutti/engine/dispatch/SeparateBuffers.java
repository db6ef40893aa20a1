package io.tutti.engine.dispatch;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Checks the buffers of one call on a list against each other.
 */
final class SeparateBuffers {

	private SeparateBuffers() {
	}

	/**
	 * Checks that no two buffers of a list that are written overlap: each would be
	 * reduced by itself, and one result overwritten by the other.
	 */
	static void require(List<MemorySegment> buffers) {
		if (followEachOther(buffers)) {
			return;
		}
		Map<Object, List<MemorySegment>> byMemory = new IdentityHashMap<>();
		for (MemorySegment buffer : buffers) {
			if (buffer.byteSize() > 0) {
				byMemory.computeIfAbsent(buffer.heapBase().orElse(MemorySegment.NULL), (_) -> new ArrayList<>())
					.add(buffer);
			}
		}
		byMemory.values().forEach(SeparateBuffers::requireInOneMemory);
	}

	/**
	 * Whether each buffer begins where or after the one before ends, in native memory.
	 */
	private static boolean followEachOther(List<MemorySegment> buffers) {
		long end = 0;
		for (MemorySegment buffer : buffers) {
			if (!buffer.isNative() || buffer.address() < end) {
				return false;
			}
			end = buffer.address() + buffer.byteSize();
		}
		return true;
	}

	private static void requireInOneMemory(List<MemorySegment> buffers) {
		buffers.sort(Comparator.comparingLong(MemorySegment::address));
		for (int i = 1; i < buffers.size(); i++) {
			if (buffers.get(i - 1).asOverlappingSlice(buffers.get(i)).isPresent()) {
				throw new IllegalArgumentException(
						"buffers of a list must not overlap, got " + buffers.get(i - 1) + " and " + buffers.get(i));
			}
		}
	}

}
