package io.tutti.engine.algorithm.shared;

import java.util.Arrays;

import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.shm.AgreedChoices;
import io.tutti.engine.transport.shm.ChunkPipeline;

/**
 * Chooses how the ranks of a host move large private buffers in calls of one collective
 * and of about one size: through the chunk pipeline, or by reading them out of each
 * other's memory. It depends on whether their cores share a cache, and changes when a
 * rank moves to another core: the pipeline passes each cache line from core to core
 * twice, a read passes it once, but with a system call. So this rank measures a few calls
 * from time to time, with the way in use and with the other one. Its choice counts in the
 * calls in which it is the chooser, a rank that receives.
 */
final class CopyChoice {

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

	private static final long MIN_NANOS = 5_000_000;

	/**
	 * After so many trials in a row that fail, the pause doubles with each further one,
	 * up to a factor of 16. The first ones may fail because the code is not compiled yet.
	 */
	private static final int FAILED_TRIALS = 8;

	private static final int MAX_DOUBLINGS = 4;

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

	private final AgreedChoices agreed;

	/** Class of the calls. */
	private final int kind;

	private Phase phase = Phase.PAUSE;

	/** Whether the way in use is to read. */
	private boolean reads;

	/** Trials in a row that have failed. */
	private int failedTrials;

	/** Calls in this phase. */
	private int calls;

	/** When the last measurement ended. */
	private long since = System.nanoTime();

	/** Nanoseconds per byte of the last calls in this phase. */
	private final double[] durations = new double[MEASURED];

	/** Nanoseconds per byte with the way in use. */
	private double usual;

	CopyChoice(AgreedChoices agreed, int kind) {
		this.agreed = agreed;
		this.kind = kind;
	}

	/**
	 * Whether the ranks of a call read, by the chooser's choice; the same on every rank.
	 */
	boolean reads(int chooser) {
		return this.agreed.reads(chooser, this.kind);
	}

	/** Whether this rank is to measure a call, from the arrival of all ranks on. */
	boolean measures() {
		return this.phase != Phase.PAUSE;
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
				if (add(call, read == this.reads, nanos)) {
					this.usual = median();
					this.agreed.choose(this.kind, !this.reads);
					change(Phase.TRIAL);
				}
			}
			case TRIAL -> {
				if (add(call, read != this.reads, nanos)) {
					endTrial(median() < GAIN * this.usual);
				}
			}
		}
	}

	private void endTrial(boolean faster) {
		if (faster) {
			this.reads = !this.reads;
			this.failedTrials = 0;
		}
		else {
			this.agreed.choose(this.kind, this.reads);
			this.failedTrials++;
		}
		change(Phase.PAUSE);
	}

	private void count(Call call) {
		int pause = 1 << Math.clamp(this.failedTrials - FAILED_TRIALS, 0, MAX_DOUBLINGS);
		this.calls++;
		if (this.calls >= pause * CALLS_PER_TRIAL * measured(call)
				&& System.nanoTime() - this.since >= pause * MIN_NANOS) {
			change(Phase.USUAL);
		}
	}

	private static long measured(Call call) {
		return MEASURED + ChunkPipeline.BYTES / call.bytes();
	}

	/** Returns whether the measurement is complete. */
	private boolean add(Call call, boolean counts, long nanos) {
		if (counts) {
			this.durations[this.calls++ % MEASURED] = (double) nanos / call.bytes();
		}
		return this.calls >= measured(call);
	}

	private double median() {
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
