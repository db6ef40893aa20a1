package io.tutti.engine.transport.shm;

import io.tutti.engine.transport.shm.HostLayout.Line;

/**
 * Where ranks hand each other large buffers, chunk by chunk. Each rank has a ring of
 * slots into which it alone <em>puts</em>; others read a chunk there, may have
 * <em>reduced</em> it, and have <em>taken</em> it when they need no slot of it any more.
 * <p>
 * What is published is a position in bytes that only grows, through all calls of the
 * group, and is the same on every rank for the same chunk. So no call has to begin with
 * empty rings.
 */
public final class ChunkPipeline {

	/** Bytes of one rank's ring. */
	public static final long BYTES = HostLayout.STAGE_BYTES;

	private final HostMemory memory;

	private final Doorbell doorbell;

	private final int ranks;

	private final int self;

	/** Up to where each rank is known to have taken. */
	private final long[] taken;

	/** Position of the call's first chunk. */
	private long first;

	/** Position behind the last call. */
	private long end;

	private long slotBytes = BYTES;

	ChunkPipeline(HostMemory memory, Doorbell doorbell) {
		this.memory = memory;
		this.doorbell = doorbell;
		this.ranks = memory.ranks();
		this.self = memory.self();
		this.taken = new long[this.ranks];
	}

	/**
	 * Begins a call.
	 * @param slotBytes room for a chunk; a power of two, at most half of {@link #BYTES}
	 */
	public void begin(long slotBytes) {
		this.slotBytes = slotBytes;
		this.first = (this.end + slotBytes - 1) & -slotBytes;
	}

	/** Ends a call of so many chunks: this rank needs nothing on any stage any more. */
	public void end(long chunks) {
		this.end = this.first + chunks * this.slotBytes;
		SharedWords.release(this.memory.line(this.self, Line.TAKEN), this.end);
		this.doorbell.ringAll();
	}

	/** Where a rank's chunk lies. */
	public long slot(int rank, long chunk) {
		return this.memory.stage(rank) + (this.first + chunk * this.slotBytes & BYTES - 1);
	}

	/** Whether this rank may fill its slot of a chunk: all have taken what it held. */
	public boolean free(long chunk) {
		long wanted = position(chunk) - BYTES;
		for (int rank = 0; rank < this.ranks; rank++) {
			if (this.taken[rank] < wanted) {
				this.taken[rank] = SharedWords.acquire(this.memory.line(rank, Line.TAKEN));
				if (this.taken[rank] < wanted) {
					return false;
				}
			}
		}
		return true;
	}

	/** This rank has filled its slot of a chunk. */
	public void put(long chunk) {
		publish(Line.PUT, chunk);
	}

	/** Whether a rank has filled its slot of a chunk. */
	public boolean hasPut(int rank, long chunk) {
		return has(rank, Line.PUT, chunk);
	}

	/** This rank has reduced its part of a chunk. */
	public void reduced(long chunk) {
		publish(Line.REDUCED, chunk);
	}

	/** Whether a rank has reduced its part of a chunk. */
	public boolean hasReduced(int rank, long chunk) {
		return has(rank, Line.REDUCED, chunk);
	}

	/** This rank needs nothing of a chunk any more. */
	public void taken(long chunk) {
		publish(Line.TAKEN, chunk);
	}

	private void publish(Line line, long chunk) {
		SharedWords.release(this.memory.line(this.self, line), position(chunk));
		this.doorbell.ringAll();
	}

	private boolean has(int rank, Line line, long chunk) {
		return SharedWords.acquire(this.memory.line(rank, line)) >= position(chunk);
	}

	private long position(long chunk) {
		return this.first + (chunk + 1) * this.slotBytes;
	}

}
