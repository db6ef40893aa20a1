package io.tutti.engine.spi;

import java.io.IOException;

/**
 * Exchanges setup data between the ranks of a group, such as descriptions of shared
 * memory. Every rank makes the same number of calls.
 */
public interface MetadataExchange {

	/** Maximum bytes per rank and call. */
	int MAX_BYTES = 1000;

	/**
	 * Gives every rank the contributions of all ranks, by rank.
	 * @param mine at most {@value #MAX_BYTES} bytes
	 * @throws IOException if the other ranks cannot be reached by the deadline
	 */
	byte[][] allGather(byte[] mine, Deadline deadline) throws IOException;

}
