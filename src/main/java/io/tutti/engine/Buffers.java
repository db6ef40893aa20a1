package io.tutti.engine;

import java.lang.foreign.MemorySegment;

/**
 * Checks of a call's buffers at the edge of the API, so that the data path can work on
 * raw addresses.
 */
final class Buffers {

	private Buffers() {
	}

	/** Checks the buffers of a call and returns the number of elements a rank gives. */
	static long check(Collective collective, MemorySegment send, MemorySegment receive, DataType type, int worldSize) {
		if (collective == Collective.BARRIER) {
			return 0;
		}
		requireUsable("send", send);
		requireUsable("receive", receive);
		requireWritable(receive);
		if (send.byteSize() % type.bytes() != 0) {
			throw new IllegalArgumentException("buffer of " + send.byteSize() + " bytes is not whole elements of "
					+ type + " (" + type.bytes() + " bytes each)");
		}
		if (collective == Collective.ALL_GATHER) {
			requireGatherSizes(send, receive, worldSize);
		}
		return send.byteSize() / type.bytes();
	}

	static void requireRoot(int root, int worldSize) {
		if (root < 0 || root >= worldSize) {
			throw new IllegalArgumentException("root must be in 0.." + (worldSize - 1) + ", got " + root);
		}
	}

	private static void requireUsable(String name, MemorySegment segment) {
		if (!segment.scope().isAlive()) {
			throw new IllegalArgumentException(name + " buffer is closed");
		}
		if (!segment.isAccessibleBy(Thread.currentThread())) {
			throw new IllegalArgumentException(
					name + " buffer belongs to another thread; use a shared or automatic arena");
		}
	}

	private static void requireWritable(MemorySegment receive) {
		if (receive.isReadOnly()) {
			throw new IllegalArgumentException("receive buffer is read-only");
		}
	}

	private static void requireGatherSizes(MemorySegment send, MemorySegment receive, int worldSize) {
		long expected = Math.multiplyExact(send.byteSize(), (long) worldSize);
		if (receive.byteSize() != expected) {
			throw new IllegalArgumentException("receive buffer must be " + expected + " bytes (" + worldSize
					+ " ranks × " + send.byteSize() + "), got " + receive.byteSize());
		}
		if (send.asOverlappingSlice(receive).isPresent()) {
			throw new IllegalArgumentException("send and receive buffers must not overlap");
		}
	}

}
