package io.tutti.engine.transport.shm;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

import io.tutti.engine.spi.NativeMemory;

/**
 * Words that one rank writes and others read. Writes before a release are visible after
 * the acquire that reads its value.
 */
final class SharedWords {

	private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

	private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

	private SharedWords() {
	}

	static long acquire(long address) {
		return (long) LONG.getAcquire(NativeMemory.ALL, address);
	}

	static void release(long address, long value) {
		LONG.setRelease(NativeMemory.ALL, address, value);
	}

	static int read(long address) {
		return (int) INT.getVolatile(NativeMemory.ALL, address);
	}

	/** Opaque read without ordering; the value may be slightly stale. */
	static int readOpaque(long address) {
		return (int) INT.getOpaque(NativeMemory.ALL, address);
	}

	static void write(long address, int value) {
		INT.setVolatile(NativeMemory.ALL, address, value);
	}

	static void increment(long address) {
		INT.getAndAdd(NativeMemory.ALL, address, 1);
	}

}
