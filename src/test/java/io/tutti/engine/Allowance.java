package io.tutti.engine;

import java.lang.management.ManagementFactory;

import com.sun.management.ThreadMXBean;

/**
 * Holds code that reads what strangers send to memory in proportion to what they sent,
 * whatever lengths they claim.
 */
public final class Allowance {

	private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

	/** What a handshake takes by itself. */
	private static final long BYTES_AT_ANY_RATE = 1 << 20;

	private static final long BYTES_PER_BYTE = 256;

	private Allowance() {
	}

	/** Reads an input on this thread. */
	public interface Reading {

		/** Reads it; may be called again. */
		void read(byte[] input) throws Exception;

	}

	/**
	 * Reads an input and checks what that took. Where it took too much it is read once
	 * more: the first time loads classes.
	 */
	public static void check(byte[] input, Reading reading) throws Exception {
		long most = BYTES_AT_ANY_RATE + BYTES_PER_BYTE * input.length;
		if (taken(input, reading) > most) {
			long again = taken(input, reading);
			if (again > most) {
				throw new AssertionError(
						"reading " + input.length + " bytes took " + again + " bytes of memory, more than " + most);
			}
		}
	}

	private static long taken(byte[] input, Reading reading) throws Exception {
		long before = THREADS.getCurrentThreadAllocatedBytes();
		reading.read(input);
		return THREADS.getCurrentThreadAllocatedBytes() - before;
	}

}
