package io.tutti.engine;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Native memory by address, unchecked: bounds are checked once, at the edge of the API.
 * Everything goes through one constant segment, since code that sees segments of several
 * kinds is no longer compiled into plain loads and stores.
 */
public final class NativeMemory {

	/** All of the address space. */
	@SuppressWarnings("restricted")
	public static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

	private NativeMemory() {
	}

	/** Copies bytes; the ranges may overlap. */
	public static void copy(long source, long target, long bytes) {
		MemorySegment.copy(ALL, source, ALL, target, bytes);
	}

	/** The 8 bytes at an address, in native order. */
	public static long getLong(long address) {
		return ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
	}

	/** Stores 8 bytes at an address, in native order. */
	public static void putLong(long address, long value) {
		ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
	}

}
