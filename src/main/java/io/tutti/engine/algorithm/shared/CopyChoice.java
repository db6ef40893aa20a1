package io.tutti.engine.algorithm.shared;

import java.util.Arrays;

import io.tutti.Collective;
import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.shm.ChunkPipeline;
import io.tutti.engine.transport.shm.PeerBuffers;

/**
 * Chooses how the ranks of a host copy large private buffers: through the chunk pipeline,
 * or by reading them out of each other's memory. It depends on whether their cores share
 * a cache, and changes when a rank moves to another core: the pipeline passes each cache
 * line from core to core twice, a read passes it once, but with a system call. So this
 * rank measures a few calls from time to time, with the way in use and with the other
 * one. Its choice counts in the calls in which it is the chooser, a rank that receives.
 */
final class CopyChoice {

	/** A system call takes longer than two copies of less. */
	private static final long MIN_BYTES = 16 << 10;

	/**
	 * Last calls of a measurement, when the pipeline is in the caches. Their median
	 * counts: where the sender is ahead, a single call may take less than it usually
	 * does.
	 */
	private static final int MEASURED = 8;

	/**
	 * Calls between two measurements for each measured one, so that trials cost little.
	 */
	private static final int CALLS_PER_TRIAL = 16;

	private static final long MIN_NANOS = 20_000_000;

	/** The other way must take less than this share of the time. */
	private static final double GAIN = 0.95;

	/** What the calls are used for. */
	private enum Phase {

		/** They are counted. */
		PAUSE,
		/** The way in use is measured. */
		USUAL,
		/** The other way is measured. */
		TRIAL

	}

	private final PeerBuffers buffers;

	private Phase phase = Phase.PAUSE;

	/** Whether the way in use is to read. */
	private boolean reads;

	/** Calls in this phase. */
	private int calls;

	/** When the last measurement ended. */
	private long since = System.nanoTime();

	/** What is measured: calls of this collective and size. */
	private Collective collective = Collective.BARRIER;

	private long bytes;

	/** Nanoseconds of the last calls in this phase. */
	private final long[] durations = new long[MEASURED];

	/** Nanoseconds of a call with the way in use. */
	private long usual;

	CopyChoice(PeerBuffers buffers) {
		this.buffers = buffers;
	}

	/** Whether the ranks of a call may read; the same on every rank. */
	boolean applies(Call call) {
		return call.bytes() >= MIN_BYTES && this.buffers.canRead();
	}

	/** Whether this rank is to measure a call, from the arrival of all ranks on. */
	boolean measures(Call call) {
		return this.phase != Phase.PAUSE && isMeasured(call);
	}

	private boolean isMeasured(Call call) {
		return call.collective() == this.collective && call.bytes() == this.bytes;
	}

	/**
	 * Counts a call in which this rank was the chooser.
	 * @param read whether the ranks have read
	 * @param nanos duration, if it was to be measured
	 */
	void record(Call call, boolean read, long nanos) {
		switch (this.phase) {
			case PAUSE -> count(call);
			case USUAL -> {
				if (!isMeasured(call)) {
					change(Phase.PAUSE);
				}
				else if (add(call, read == this.reads, nanos)) {
					this.usual = median();
					this.buffers.choose(!this.reads);
					change(Phase.TRIAL);
				}
			}
			case TRIAL -> {
				boolean complete = add(call, read != this.reads && isMeasured(call), nanos);
				if (complete && median() < GAIN * this.usual) {
					this.reads = !this.reads;
					change(Phase.PAUSE);
				}
				else if ((complete || !isMeasured(call)) && this.buffers.mayChoose()) {
					this.buffers.choose(this.reads);
					change(Phase.PAUSE);
				}
			}
		}
	}

	private void count(Call call) {
		this.calls++;
		if (this.calls >= CALLS_PER_TRIAL * measured(call) && System.nanoTime() - this.since >= MIN_NANOS
				&& this.buffers.mayChoose()) {
			this.collective = call.collective();
			this.bytes = call.bytes();
			change(Phase.USUAL);
		}
	}

	private static long measured(Call call) {
		return MEASURED + ChunkPipeline.BYTES / call.bytes();
	}

	/** Returns whether the measurement is complete. */
	private boolean add(Call call, boolean counts, long nanos) {
		if (counts) {
			this.durations[this.calls++ % MEASURED] = nanos;
		}
		return this.calls >= measured(call);
	}

	private long median() {
		Arrays.sort(this.durations);
		return this.durations[MEASURED / 2];
	}

	private void change(Phase next) {
		this.phase = next;
		this.calls = 0;
		if (next == Phase.PAUSE) {
			this.since = System.nanoTime();
		}
	}

}
