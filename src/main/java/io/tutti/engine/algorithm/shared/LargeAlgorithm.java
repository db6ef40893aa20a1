package io.tutti.engine.algorithm.shared;

import java.time.Duration;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.transport.shm.CallSlots;
import io.tutti.engine.transport.shm.ChunkPipeline;
import io.tutti.engine.transport.shm.PeerBuffers;
import io.tutti.engine.transport.shm.ShmTransport;

/**
 * Runs a collective on large buffers. If the buffers of all ranks are accessible in
 * place, or are read out of private memory, all ranks work on them, and synchronize
 * before and after. Otherwise the buffers pass through the chunk pipeline: every rank
 * fills slots, several chunks ahead, and processes each chunk that all ranks have put.
 */
final class LargeAlgorithm implements Algorithm {

	/** No element and no cache line spans two slices. */
	private static final long LINE_BYTES = 64;

	/** Enough chunks that all ranks work concurrently. */
	private static final long CHUNKS_WANTED = 4;

	private static final long MIN_SLOT_BYTES = 16 << 10;

	/** A chunk stays in the L2 cache until it is read. */
	private static final long MAX_SLOT_BYTES = ChunkPipeline.BYTES / 8;

	/**
	 * A rank that runs ends its pass within milliseconds of a failure; one that has died
	 * never does.
	 */
	private static final Duration PASS_LIMIT = Duration.ofMillis(100);

	private final LargeCollective collective;

	private final int rank;

	private final int worldSize;

	private final ShmTransport transport;

	private final CallSlots slots;

	private final ChunkPipeline pipeline;

	private final PeerBuffers buffers;

	private final CopyChoices choices;

	private boolean allArrived;

	LargeAlgorithm(LargeCollective collective, int rank, int worldSize, ShmTransport transport, CopyChoices choices) {
		this.collective = collective;
		this.rank = rank;
		this.worldSize = worldSize;
		this.transport = transport;
		this.slots = transport.slots();
		this.pipeline = transport.pipeline();
		this.buffers = transport.buffers();
		this.choices = choices;
	}

	/**
	 * Slot size for a buffer of the given size; a power of two.
	 * @param slices number of slices that a slot holds
	 */
	static long slotBytes(long bytes, int slices) {
		long least = Math.max(MIN_SLOT_BYTES, LINE_BYTES * Long.highestOneBit(2L * slices - 1));
		return Math.clamp(Long.highestOneBit(Math.max(1, bytes / CHUNKS_WANTED)), least,
				Math.max(least, MAX_SLOT_BYTES));
	}

	/** Size of each of several slices in a slot; a multiple of a cache line. */
	static long sliceBytes(long slotBytes, int slices) {
		return slotBytes / slices & -LINE_BYTES;
	}

	@Override
	public void run(Call call) {
		CopyChoices.Choice choice = this.collective.readable() ? this.choices.of(call) : null;
		int chooser = this.collective.chooser(call);
		boolean reads = choice != null && choice.reads(chooser);
		CopyChoices.Choice own = (chooser == this.rank) ? choice : null;
		boolean measures = own != null && own.measures();
		boolean inPlace = this.collective.post(call, reads);
		if (inPlace || reads || measures) {
			inPlace = awaitAllInPlace(call, inPlace);
		}
		long start = measures ? System.nanoTime() : 0;
		if (!(inPlace || reads) || !runDirectly(call, inPlace)) {
			pass(call);
		}
		if (own != null && !inPlace) {
			own.record(call, reads, measures ? System.nanoTime() - start : 0);
		}
	}

	/**
	 * Waits until all ranks have entered the call.
	 * @param accessible whether the others can access this rank's buffer
	 * @return whether all ranks can access all buffers in place
	 */
	private boolean awaitAllInPlace(Call call, boolean accessible) {
		try {
			this.slots.awaitAll();
			return allInPlace(call);
		}
		catch (RuntimeException | Error ex) {
			if (accessible) {
				this.buffers.begin();
				letOthersFinish();
			}
			throw ex;
		}
	}

	private boolean allInPlace(Call call) {
		for (int peer = 0; peer < this.worldSize; peer++) {
			if (this.collective.sends(call, peer) && !this.buffers.inPlace(peer)) {
				return false;
			}
		}
		return true;
	}

	/** Returns whether all ranks could access all buffers. */
	private boolean runDirectly(Call call, boolean inPlace) {
		this.buffers.begin();
		try {
			this.collective.runDirectly(call, inPlace);
			this.buffers.finish();
			this.collective.copyOwnPart(call);
			return this.buffers.awaitFinished();
		}
		catch (RuntimeException | Error ex) {
			letOthersFinish();
			throw ex;
		}
	}

	/** After a failure: ranks that write to this rank's buffer end their pass first. */
	private void letOthersFinish() {
		if (!this.collective.readable()) {
			this.buffers.fail(Deadline.after(PASS_LIMIT));
		}
	}

	private void pass(Call call) {
		boolean sends = this.collective.sends(call, this.rank);
		if (!sends) {
			this.collective.copyOwnPart(call);
		}
		this.allArrived = false;
		this.pipeline.begin(this.collective.divide(call));
		boolean reduces = this.collective.reduces();
		long chunks = this.collective.chunks(call);
		long put = sends ? 0 : chunks;
		long reduced = 0;
		long taken = this.collective.receives(call, this.rank) ? 0 : chunks;
		if (taken == chunks) {
			this.pipeline.taken(chunks - 1);
		}
		while (put < chunks || taken < chunks) {
			boolean moved = false;
			if (put < chunks && this.pipeline.free(put)) {
				this.collective.put(call, put);
				call.requireOpenBuffers();
				this.pipeline.put(put++);
				moved = true;
			}
			if (reduces && reduced < put && putByAll(call, reduced)) {
				this.collective.reduce(call, reduced);
				call.requireOpenBuffers();
				this.pipeline.reduced(reduced++);
				moved = true;
			}
			if (taken < chunks
					&& (reduces ? taken < reduced && reducedByAll(taken) : taken < put && putByAll(call, taken))) {
				this.collective.take(call, taken);
				this.pipeline.taken(taken++);
				moved = true;
			}
			this.transport.endRound(moved);
		}
		this.pipeline.end(chunks);
		if (sends) {
			this.collective.copyOwnPart(call);
		}
	}

	private boolean putByAll(Call call, long chunk) {
		for (int peer = 0; peer < this.worldSize; peer++) {
			if (!(this.allArrived || this.slots.arrived(peer))
					|| this.collective.sends(call, peer) && !this.pipeline.hasPut(peer, chunk)) {
				return false;
			}
		}
		this.allArrived = true;
		return true;
	}

	private boolean reducedByAll(long chunk) {
		for (int peer = 0; peer < this.worldSize; peer++) {
			if (!this.pipeline.hasReduced(peer, chunk)) {
				return false;
			}
		}
		return true;
	}

}
