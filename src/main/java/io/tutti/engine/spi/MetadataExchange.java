package io.tutti.engine.spi;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Exchanges setup data between the ranks of a group, such as descriptions of shared
 * memory. Every rank makes the same number of calls.
 */
public interface MetadataExchange {

	/** Maximum bytes per rank and call. */
	int MAX_BYTES = 1000;

	/** Leaves room for other values beside a text. */
	int MAX_TEXT_BYTES = 900;

	/** The start of a text that is only for display. */
	static String truncated(String text) {
		byte[] letters = text.getBytes(StandardCharsets.UTF_8);
		return new String(letters, 0, Math.min(letters.length, MAX_TEXT_BYTES), StandardCharsets.UTF_8);
	}

	/**
	 * Gives every rank the contributions of all ranks, by rank.
	 * @param mine at most {@value #MAX_BYTES} bytes
	 * @throws IOException if the other ranks cannot be reached by the deadline
	 */
	byte[][] allGather(byte[] mine, Deadline deadline) throws IOException;

}
