package io.tutti.engine;

import java.lang.management.ManagementFactory;

import com.sun.management.ThreadMXBean;

/**
 * Checks that code which parses untrusted bytes allocates memory in proportion to the
 * input size, whatever lengths the input declares.
 */
public final class Allowance {

	private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

	/** Fixed allowance for a handshake. */
	private static final long BYTES_AT_ANY_RATE = 1 << 20;

	private static final long BYTES_PER_BYTE = 256;

	private Allowance() {
	}

	/** Parses an input on this thread. */
	public interface Reading {

		/** Parses the input; may be called twice. */
		void read(byte[] input) throws Exception;

	}

	/**
	 * Parses an input and checks the memory that it allocates. If that is too much, the
	 * input is parsed once more, since the first time loads classes.
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
