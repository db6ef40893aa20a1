package io.tutti.engine.transport.shm;

import io.tutti.engine.transport.shm.HostLayout.Line;

/**
 * Transfers large buffers between ranks, chunk by chunk. Each rank has a ring of slots,
 * into which only that rank <em>puts</em> chunks. The other ranks read a chunk in place,
 * may have <em>reduced</em> their part of it, and have <em>taken</em> it when they no
 * longer need its slots.
 * <p>
 * Ranks publish positions in bytes that grow monotonically through all calls of the group
 * and are the same on every rank for the same chunk. So a call need not begin with empty
 * rings.
 */
public final class ChunkPipeline {

	/** Bytes of one rank's ring. */
	public static final long BYTES = HostLayout.PIPELINE_BYTES;

	/** Instead of a rank for which a check waits. */
	private static final int ALL = -1;

	private final HostLayout layout;

	private final Doorbell doorbell;

	private final int ranks;

	private final int self;

	/** Last known taken position of each rank. */
	private final long[] taken;

	/** Position of the call's first chunk. */
	private long first;

	/** Position after the last call. */
	private long end;

	private long slotBytes = BYTES;

	/** Rank for which the last check of this call waits, or {@link #ALL}. */
	private int awaitedRank;

	private Line awaitedLine = Line.TAKEN;

	/** Position that the line had not reached, 0 if this call has waited for nothing. */
	private long awaitedPosition;

	ChunkPipeline(HostMemory memory, Doorbell doorbell) {
		this.layout = memory.layout();
		this.doorbell = doorbell;
		this.ranks = memory.ranks();
		this.self = memory.self();
		this.taken = new long[this.ranks];
	}

	/**
	 * Begins a call.
	 * @param slotBytes size of a chunk's slot; a power of two, at most half of
	 * {@link #BYTES}
	 */
	public void begin(long slotBytes) {
		this.slotBytes = slotBytes;
		this.first = (this.end + slotBytes - 1) & -slotBytes;
	}

	/** Ends a call of so many chunks: this rank no longer needs a slot of any ring. */
	public void end(long chunks) {
		this.end = this.first + chunks * this.slotBytes;
		this.awaitedPosition = 0;
		SharedWords.release(this.layout.line(this.self, Line.TAKEN), this.end);
		this.doorbell.ringAll();
	}

	/** Address of a rank's slot for a chunk. */
	public long slot(int rank, long chunk) {
		return this.layout.pipeline(rank) + (this.first + chunk * this.slotBytes & BYTES - 1);
	}

	/**
	 * Whether this rank may fill its slot of a chunk: all ranks have taken its previous
	 * content.
	 */
	public boolean free(long chunk) {
		long wanted = position(chunk) - BYTES;
		for (int rank = 0; rank < this.ranks; rank++) {
			if (this.taken[rank] < wanted) {
				this.taken[rank] = SharedWords.acquire(this.layout.line(rank, Line.TAKEN));
				if (this.taken[rank] < wanted) {
					awaits(ALL, Line.TAKEN, wanted);
					return false;
				}
			}
		}
		return true;
	}

	/** Publishes that this rank has filled its slot of a chunk. */
	public void put(long chunk) {
		publish(Line.PUT, chunk);
	}

	/** Whether a rank has filled its slot of a chunk. */
	public boolean hasPut(int rank, long chunk) {
		return has(rank, Line.PUT, chunk);
	}

	/** Publishes that this rank has reduced its part of a chunk. */
	public void reduced(long chunk) {
		publish(Line.REDUCED, chunk);
	}

	/** Whether a rank has reduced its part of a chunk. */
	public boolean hasReduced(int rank, long chunk) {
		return has(rank, Line.REDUCED, chunk);
	}

	/** Publishes that this rank no longer needs a chunk. */
	public void taken(long chunk) {
		publish(Line.TAKEN, chunk);
	}

	private void publish(Line line, long chunk) {
		SharedWords.release(this.layout.line(this.self, line), position(chunk));
		this.doorbell.ringAll();
	}

	private boolean has(int rank, Line line, long chunk) {
		boolean reached = SharedWords.acquire(this.layout.line(rank, line)) >= position(chunk);
		if (!reached) {
			awaits(rank, line, position(chunk));
		}
		return reached;
	}

	private void awaits(int rank, Line line, long position) {
		this.awaitedRank = rank;
		this.awaitedLine = line;
		this.awaitedPosition = position;
	}

	/**
	 * Whether this rank waits for another one: that rank lacks what the last check of
	 * this call has found missing.
	 */
	boolean awaits(int rank) {
		return rank != this.self && (this.awaitedRank == rank || this.awaitedRank == ALL)
				&& SharedWords.acquire(this.layout.line(rank, this.awaitedLine)) < this.awaitedPosition;
	}

	private long position(long chunk) {
		return this.first + (chunk + 1) * this.slotBytes;
	}

}
