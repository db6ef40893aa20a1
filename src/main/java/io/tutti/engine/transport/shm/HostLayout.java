package io.tutti.engine.transport.shm;

/**
 * Where everything lies in the memory that the ranks of one host share. A word that one
 * rank writes and others poll has a line of its own, of {@value #LINE_BYTES} bytes, since
 * processors fetch lines in pairs.
 *
 * @param ranks how many ranks share the memory
 */
record HostLayout(int ranks) {

	/** What a flag is given to itself. */
	static final int LINE_BYTES = 128;

	/** Calls whose operands may lie in the slots at once; a power of two. */
	static final int SLOTS = 4;

	/** What stands ahead of a slot's operand: round, fingerprint, room for a tiny one. */
	static final int SLOT_HEADER_BYTES = 64;

	/** Lines of words per rank: see {@link #line}. */
	private static final int LINES = Line.values().length;

	/** Through which each rank hands out large buffers, chunk by chunk. */
	static final long STAGE_BYTES = 1 << 20;

	/** All rings between pairs of ranks together, at most. */
	private static final long ALL_RINGS_BYTES = 16 << 20;

	private static final long MIN_RING_BYTES = 16 << 10;

	private static final long MAX_RING_BYTES = 512 << 10;

	/** All rings for messages together, unless they would get too small. */
	private static final long ALL_MESSAGE_RINGS_BYTES = 4 << 20;

	private static final long MIN_MESSAGE_RING_BYTES = 4 << 10;

	private static final long MAX_MESSAGE_RING_BYTES = 256 << 10;

	/** The lines of a rank. */
	enum Line {

		/** Handshake: what the owner wrote and the rank answered. */
		PROOF,
		/** Whether the rank sleeps. */
		SLEEPING,
		/** The word that the rank sleeps on. */
		BELL,
		/** How many chunks the rank has put on its stage. */
		PUT,
		/** How many chunks the rank has reduced. */
		REDUCED,
		/** How many chunks the rank has taken from all stages. */
		TAKEN,
		/** How many direct passes the rank has finished. */
		FINISHED,
		/** Whether the rank sleeps while it waits for messages. */
		MESSAGE_SLEEPING,
		/** The word that it sleeps on. */
		MESSAGE_BELL,
		/** How many ranks have sent this one a first message. */
		MESSAGE_CALLS,
		/** Whether the rank has left. */
		LEFT

	}

	/** Largest operand that goes through the slots: more is read by too many. */
	long slotOperandBytes() {
		return (this.ranks <= 8) ? 4 << 10 : 2 << 10;
	}

	long line(int rank, Line line) {
		return ((long) rank * LINES + line.ordinal()) * LINE_BYTES;
	}

	private long slotBytes() {
		return SLOT_HEADER_BYTES + slotOperandBytes();
	}

	long slot(int rank, long round) {
		long slots = (long) this.ranks * LINES * LINE_BYTES;
		return slots + (rank * SLOTS + round % SLOTS) * slotBytes();
	}

	long stage(int rank) {
		return slot(this.ranks, 0) + rank * STAGE_BYTES;
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
		return stage(this.ranks) + ((long) from * this.ranks + to) * (2 * LINE_BYTES + ringBytes());
	}

	/** Bytes that one ring for messages holds; a power of two. */
	long messageRingBytes() {
		return Math.clamp(each(ALL_MESSAGE_RINGS_BYTES), MIN_MESSAGE_RING_BYTES, MAX_MESSAGE_RING_BYTES);
	}

	/** The ring for messages from one rank to another. */
	long messageRing(int from, int to) {
		return ring(this.ranks, 0) + ((long) from * this.ranks + to) * (2 * LINE_BYTES + messageRingBytes());
	}

	/** Size of the whole. */
	long bytes() {
		return messageRing(this.ranks, 0);
	}

}
