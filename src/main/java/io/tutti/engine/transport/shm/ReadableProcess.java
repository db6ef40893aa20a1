package io.tutti.engine.transport.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.security.SecureRandom;

import io.tutti.engine.spi.NativeMemory;

/**
 * A process whose memory {@link CrossMemoryAttach} can read. A number at a known place in
 * its memory distinguishes it from a later process with the same pid.
 *
 * @param pid number of the process
 * @param address where the number is in its memory
 * @param number random, the same as long as the process lives
 */
record ReadableProcess(long pid, long address, long number) {

	/** Size in memory: three words. */
	static final long BYTES = 3 * Long.BYTES;

	private static final long NUMBER = new SecureRandom().nextLong();

	private static final long ADDRESS = Arena.global().allocateFrom(ValueLayout.JAVA_LONG, NUMBER).address();

	/** This process. */
	static ReadableProcess current() {
		return new ReadableProcess(ProcessHandle.current().pid(), ADDRESS, NUMBER);
	}

	/** Reads what {@link #write} has written. */
	static ReadableProcess read(long address) {
		return new ReadableProcess(NativeMemory.getLong(address), NativeMemory.getLong(address + Long.BYTES),
				NativeMemory.getLong(address + 2 * Long.BYTES));
	}

	/** Writes it to memory. */
	void write(long address) {
		NativeMemory.putLong(address, this.pid);
		NativeMemory.putLong(address + Long.BYTES, this.address);
		NativeMemory.putLong(address + 2 * Long.BYTES, this.number);
	}

}
