package io.tutti.engine.spi;

import java.io.IOException;

/**
 * A way between the ranks of a group over which they agree on what comes next, such as
 * the memory that they share. Every rank calls it equally often.
 */
public interface MetadataExchange {

	/** Most bytes that a rank gives at once. */
	int MAX_BYTES = 1000;

	/**
	 * Gives every rank what each of them gave, by rank.
	 * @param mine at most {@value #MAX_BYTES} bytes
	 * @throws IOException if the others cannot be reached by the deadline
	 */
	byte[][] allGather(byte[] mine, Deadline deadline) throws IOException;

}
