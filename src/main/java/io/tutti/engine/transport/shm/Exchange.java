package io.tutti.engine.transport.shm;

import java.io.IOException;

import io.tutti.engine.Deadline;

/**
 * Another way between the ranks of a group, over which they agree on their shared memory
 * before there is any. Every rank calls it equally often.
 */
public interface Exchange {

	/** Most bytes that a rank gives at once. */
	int MAX_BYTES = 1000;

	/**
	 * Gives every rank what each of them gave, by rank.
	 * @param mine at most {@value #MAX_BYTES} bytes
	 * @throws IOException if the others cannot be reached by the deadline
	 */
	byte[][] allGather(byte[] mine, Deadline deadline) throws IOException;

}
