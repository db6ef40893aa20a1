package io.tutti.engine.transport.shm;

import io.tutti.Collective;

/**
 * Layout of the memory that the ranks of one host share. A word that one rank writes and
 * others poll has its own line of {@value #LINE_BYTES} bytes, since processors prefetch
 * cache lines in pairs; the words of records in a {@link RecordRing} lie beside them.
 *
 * @param ranks number of ranks that share the memory
 * @param start address of the memory; 0 for offsets in it
 */
record HostLayout(int ranks, long start) {

	/** Bytes reserved for one flag. */
	static final int LINE_BYTES = 128;

	/** Slots per rank: rounds whose operands may be posted at once; a power of two. */
	static final int SLOTS = 4;

	/** Bytes before a slot's operand: round, fingerprint, room for a tiny operand. */
	static final int SLOT_HEADER_BYTES = 64;

	/** Lines of words per rank: see {@link #line}. */
	private static final int LINES = Line.values().length;

	/** Classes of sizes for each of which ranks choose whether they read memory. */
	static final int SIZES = 12;

	/**
	 * Words per rank that say whether ranks read private memory, one for each size of
	 * each collective, in whole lines. They are rarely written, so they share lines.
	 */
	static final int CHOICES = wordsOfWholeLines(Collective.values().length * SIZES);

	/** Bytes of each rank's ring for large buffers, see {@link ChunkPipeline}. */
	static final long PIPELINE_BYTES = 1 << 20;

	/** Limit for all rings between pairs of ranks, subject to the minimum per ring. */
	private static final long ALL_RINGS_BYTES = 16 << 20;

	private static final long MIN_RING_BYTES = 16 << 10;

	private static final long MAX_RING_BYTES = 512 << 10;

	/** Limit for all message rings, subject to the minimum per ring. */
	private static final long ALL_MESSAGE_RINGS_BYTES = 4 << 20;

	private static final long MIN_MESSAGE_RING_BYTES = 4 << 10;

	private static final long MAX_MESSAGE_RING_BYTES = 256 << 10;

	/** The lines of a rank. */
	enum Line {

		/** Handshake: the owner's number and the rank's answer. */
		PROBE,
		/** The rank's process, and its namespaces. */
		PROCESS,
		/** Whether the rank sleeps. */
		SLEEPING,
		/** The word that the rank sleeps on. */
		BELL,
		/** Byte position up to which the rank has put chunks into its ring. */
		PUT,
		/** Byte position up to which the rank has reduced chunks. */
		REDUCED,
		/** Byte position up to which the rank has taken chunks from all rings. */
		TAKEN,
		/** Number of passes over other ranks' buffers that the rank has finished. */
		FINISHED,
		/** The pass in which the rank could not read another one's private memory. */
		UNREADABLE,
		/** Whether the rank sleeps while it waits for messages. */
		MESSAGE_SLEEPING,
		/** The word that the rank sleeps on while it waits for messages. */
		MESSAGE_BELL,
		/** Number of ranks that have sent this rank a first message. */
		MESSAGE_CALLS,
		/**
		 * Whether a collective of the rank has failed, so that its buffers may have
		 * changed.
		 */
		FAILED,
		/**
		 * Whether a send of the rank may have ended before its message was received, so
		 * that its buffer may have changed.
		 */
		MESSAGES_FAILED,
		/** Whether the rank has left. */
		LEFT

	}

	/**
	 * Largest operand for a slot. Every rank reads every slot, so the limit falls with
	 * the number of ranks.
	 */
	long slotOperandBytes() {
		return (this.ranks <= 8) ? 4 << 10 : 2 << 10;
	}

	private static int wordsOfWholeLines(int words) {
		int wordsOfALine = LINE_BYTES / Long.BYTES;
		return (words + wordsOfALine - 1) / wordsOfALine * wordsOfALine;
	}

	long line(int rank, Line line) {
		return this.start + ((long) rank * LINES + line.ordinal()) * LINE_BYTES;
	}

	/** A rank's choice whether ranks read private memory, and its first round. */
	long choice(int rank, int index) {
		return this.start + (long) this.ranks * LINES * LINE_BYTES + ((long) rank * CHOICES + index) * Long.BYTES;
	}

	private long slotBytes() {
		return SLOT_HEADER_BYTES + slotOperandBytes();
	}

	long slot(int rank, long round) {
		return choice(this.ranks, 0) + (rank * SLOTS + round % SLOTS) * slotBytes();
	}

	long pipeline(int rank) {
		return slot(this.ranks, 0) + rank * PIPELINE_BYTES;
	}

	/** Bytes that one ring holds; a power of two. */
	long ringBytes() {
		return Math.clamp(each(ALL_RINGS_BYTES), MIN_RING_BYTES, MAX_RING_BYTES);
	}

	private long each(long bytesOfAll) {
		return Long.highestOneBit(bytesOfAll / ((long) this.ranks * this.ranks));
	}

	/** The ring from one rank to another: two lines of counters, then the bytes. */
	long ring(int from, int to) {
		return pipeline(this.ranks) + ((long) from * this.ranks + to) * (2 * LINE_BYTES + ringBytes());
	}

	/** Bytes that one ring for messages holds; a power of two. */
	long messageRingBytes() {
		return Math.clamp(each(ALL_MESSAGE_RINGS_BYTES), MIN_MESSAGE_RING_BYTES, MAX_MESSAGE_RING_BYTES);
	}

	/** The ring for messages from one rank to another: a counter, then the records. */
	long messageRing(int from, int to) {
		return ring(this.ranks, 0) + ((long) from * this.ranks + to) * (LINE_BYTES + messageRingBytes());
	}

	/** Total size of the memory. */
	static long bytes(int ranks) {
		return new HostLayout(ranks, 0).messageRing(ranks, 0);
	}

}
