package io.tutti.engine.spi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * Unchecked access to native memory by address; the API layer checks bounds once. All
 * access uses one constant segment, since the JIT does not compile code that sees several
 * kinds of segments into plain loads and stores.
 */
public final class NativeMemory {

	/** The whole address space. */
	@SuppressWarnings("restricted")
	public static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

	/**
	 * Up to this size, bytes are copied in words. The general copy stores so few bytes
	 * under a mask, and a processor makes a load of such bytes wait until its core owns
	 * the cache line.
	 */
	private static final long SMALL_BYTES = 64;

	/**
	 * From this size on, the C library copies: its copy overwrites whole cache lines
	 * without fetching them first, so a line that another core has read is passed on in
	 * half the time that the JVM's copy takes.
	 */
	private static final long LARGE_BYTES = 8192;

	/**
	 * From this size on, the JVM copies a rank's own part, whose lines are not passed
	 * between cores. With the C library's copy, a gather or exchange takes up to a third
	 * longer where two cores share a cache.
	 */
	private static final long OWN_BYTES = 1 << 20;

	/**
	 * Limit of one copy: a garbage collection waits for its end, and with it every other
	 * thread.
	 */
	private static final long CALL_BYTES = 64 << 20;

	/** The C library's copy; {@code null} if this process may not call it. */
	private static final @Nullable MethodHandle MEMMOVE = CLibrary.find("memmove", FunctionDescriptor
		.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
			Linker.Option.critical(false));

	private NativeMemory() {
	}

	/** Copies bytes; the ranges may overlap, and nothing is copied onto itself. */
	public static void copy(long source, long target, long bytes) {
		if (source == target) {
			return;
		}
		if (bytes >= LARGE_BYTES) {
			move(source, target, bytes, MEMMOVE != null);
		}
		else if (bytes > SMALL_BYTES) {
			MemorySegment.copy(ALL, source, ALL, target, bytes);
		}
		else if (target < source) {
			copyUpwards(source, target, bytes);
		}
		else {
			copyDownwards(source, target, bytes);
		}
	}

	/**
	 * As {@link #copy}, for a rank's own part of what the ranks gather or exchange. For
	 * the root's part of a scatter, {@link #copy} is faster.
	 */
	public static void copyOwn(long source, long target, long bytes) {
		if (bytes < OWN_BYTES) {
			copy(source, target, bytes);
		}
		else if (source != target) {
			move(source, target, bytes, false);
		}
	}

	/**
	 * Begins at the end that keeps overlapping bytes until they are copied.
	 * @param library whether the C library copies
	 */
	private static void move(long source, long target, long bytes, boolean library) {
		long moved = 0;
		while (moved < bytes) {
			long length = Math.min(CALL_BYTES, bytes - moved);
			long start = (target < source) ? moved : bytes - moved - length;
			if (library) {
				call(source + start, target + start, length);
			}
			else {
				MemorySegment.copy(ALL, source + start, ALL, target + start, length);
			}
			moved += length;
		}
	}

	private static void call(long source, long target, long bytes) {
		try {
			long ignored = (long) Objects.requireNonNull(MEMMOVE).invokeExact(target, source, bytes);
		}
		catch (Throwable ex) {
			throw CleanUp.unchecked(ex);
		}
	}

	private static void copyUpwards(long source, long target, long bytes) {
		long i = 0;
		for (; i <= bytes - Long.BYTES; i += Long.BYTES) {
			putLong(target + i, getLong(source + i));
		}
		if (i <= bytes - Integer.BYTES) {
			putInt(target + i, getInt(source + i));
			i += Integer.BYTES;
		}
		for (; i < bytes; i++) {
			putByte(target + i, getByte(source + i));
		}
	}

	private static void copyDownwards(long source, long target, long bytes) {
		long i = bytes;
		for (; i >= Long.BYTES; i -= Long.BYTES) {
			putLong(target + i - Long.BYTES, getLong(source + i - Long.BYTES));
		}
		if (i >= Integer.BYTES) {
			i -= Integer.BYTES;
			putInt(target + i, getInt(source + i));
		}
		while (--i >= 0) {
			putByte(target + i, getByte(source + i));
		}
	}

	/** The 8 bytes at an address, in native order. */
	public static long getLong(long address) {
		return ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
	}

	/** Stores 8 bytes at an address, in native order. */
	public static void putLong(long address, long value) {
		ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
	}

	/** The float at an address. */
	public static float getFloat(long address) {
		return ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, address);
	}

	/** Stores any NaN as the canonical one. */
	public static void putFloat(long address, float value) {
		ALL.set(ValueLayout.JAVA_INT_UNALIGNED, address, Float.floatToIntBits(value));
	}

	/** The double at an address. */
	public static double getDouble(long address) {
		return ALL.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, address);
	}

	/** Stores any NaN as the canonical one. */
	public static void putDouble(long address, double value) {
		ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, Double.doubleToLongBits(value));
	}

	/** The 4 bytes at an address, in native order. */
	public static int getInt(long address) {
		return ALL.get(ValueLayout.JAVA_INT_UNALIGNED, address);
	}

	/** Stores 4 bytes at an address, in native order. */
	public static void putInt(long address, int value) {
		ALL.set(ValueLayout.JAVA_INT_UNALIGNED, address, value);
	}

	/** The 2 bytes at an address, in native order. */
	public static short getShort(long address) {
		return ALL.get(ValueLayout.JAVA_SHORT_UNALIGNED, address);
	}

	/** Stores 2 bytes at an address, in native order. */
	public static void putShort(long address, short value) {
		ALL.set(ValueLayout.JAVA_SHORT_UNALIGNED, address, value);
	}

	/** The byte at an address. */
	public static byte getByte(long address) {
		return ALL.get(ValueLayout.JAVA_BYTE, address);
	}

	/** Stores a byte at an address. */
	public static void putByte(long address, byte value) {
		ALL.set(ValueLayout.JAVA_BYTE, address, value);
	}

}
