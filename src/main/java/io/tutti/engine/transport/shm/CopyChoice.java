package io.tutti.engine.transport.shm;

import java.util.Arrays;

/**
 * Chooses how the ranks of a host move large private buffers in calls of one collective,
 * or messages from one rank, of about one size: through shared memory, or by reading them
 * out of each other's memory. It depends on whether their cores share a cache, and
 * changes when a rank moves to another core: shared memory passes each cache line from
 * core to core twice, a read passes it once, but with a system call. So a rank that
 * receives measures a few calls from time to time, with the way in use and with the other
 * one.
 */
public final class CopyChoice {

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

	/**
	 * @param reads whether the first calls read
	 */
	public CopyChoice(boolean reads) {
		this.reads = reads;
	}

	/** Whether the next calls are to read. */
	public boolean reads() {
		return this.reads != (this.phase == Phase.TRIAL);
	}

	/** Whether the next call is to be measured. */
	public boolean measures() {
		return this.phase != Phase.PAUSE;
	}

	/**
	 * Counts a call.
	 * @param read whether the bytes were read
	 * @param nanos duration, if it was to be measured
	 */
	public void record(long bytes, boolean read, long nanos) {
		switch (this.phase) {
			case PAUSE -> count(bytes);
			case USUAL -> {
				if (add(bytes, read == this.reads, nanos)) {
					this.usual = median();
					change(Phase.TRIAL);
				}
			}
			case TRIAL -> {
				if (add(bytes, read != this.reads, nanos)) {
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
			this.failedTrials++;
		}
		change(Phase.PAUSE);
	}

	private void count(long bytes) {
		int pause = 1 << Math.clamp(this.failedTrials - FAILED_TRIALS, 0, MAX_DOUBLINGS);
		this.calls++;
		if (this.calls >= pause * CALLS_PER_TRIAL * measured(bytes)
				&& System.nanoTime() - this.since >= pause * MIN_NANOS) {
			change(Phase.USUAL);
		}
	}

	private static long measured(long bytes) {
		return MEASURED + ChunkPipeline.BYTES / bytes;
	}

	/** Returns whether the measurement is complete. */
	private boolean add(long bytes, boolean counts, long nanos) {
		if (counts) {
			this.durations[this.calls++ % MEASURED] = (double) nanos / bytes;
		}
		return this.calls >= measured(bytes);
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
