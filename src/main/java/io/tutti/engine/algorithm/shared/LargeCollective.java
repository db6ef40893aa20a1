package io.tutti.engine.algorithm.shared;

import io.tutti.engine.spi.Call;

/**
 * This rank's work in a collective on large buffers, which {@link LargeAlgorithm} runs
 * directly on the buffers or chunk by chunk.
 */
interface LargeCollective {

	/**
	 * Posts a call and the buffer that the other ranks access, if there is one.
	 * @param readable whether they can read private memory
	 * @return whether they can access it in place
	 */
	boolean post(Call call, boolean readable);

	/**
	 * Whether no rank writes to another one's buffer, so that the ranks may read private
	 * memory.
	 */
	default boolean readable() {
		return false;
	}

	/** Whether the other ranks access a buffer of a rank. */
	default boolean sends(Call call, int rank) {
		return true;
	}

	/** Whether a rank accesses buffers of other ranks. */
	default boolean receives(Call call, int rank) {
		return true;
	}

	/** The rank that chooses: the lowest one that receives. */
	default int chooser(Call call) {
		int rank = 0;
		while (!receives(call, rank)) {
			rank++;
		}
		return rank;
	}

	/**
	 * Does this rank's share where the buffers of all ranks that send are accessible; all
	 * ranks are in the call.
	 * @param inPlace whether none of them has to be read
	 */
	void runDirectly(Call call, boolean inPlace);

	/** Divides a call into chunks, and returns the size of their slots. */
	long divide(Call call);

	/** Number of chunks of the call. */
	long chunks(Call call);

	/** Fills this rank's slot of a chunk. */
	void put(Call call, long chunk);

	/** Whether there are results of chunks, which each rank reduces a part of. */
	default boolean reduces() {
		return false;
	}

	/** Reduces this rank's part of a chunk that all ranks have put. */
	default void reduce(Call call, long chunk) {
	}

	/**
	 * Reads the slots of a chunk that all ranks have put, and reduced if there are
	 * results, for the last time.
	 */
	void take(Call call, long chunk);

	/**
	 * Copies this rank's own part to itself, after others have what they wait for, or
	 * while it waits for them.
	 */
	default void copyOwnPart(Call call) {
	}

}
