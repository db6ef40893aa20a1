package io.tutti.training;

import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;

/**
 * Evaluates the model on the test samples. Each rank classifies a share; the sum over all
 * ranks gives the same accuracy on every rank.
 */
final class TestRun implements AutoCloseable {

	private final Replica replica;

	private final ProcessGroup group;

	private final SampleTensors samples;

	private final int count;

	private final Share share;

	private long testedStep = -1;

	private double accuracy;

	private long allReducedBytes;

	TestRun(ProcessGroup group, Dataset test, Replica replica, TrainingDevice device) {
		this.replica = replica;
		this.group = group;
		this.samples = new SampleTensors(test, device);
		this.count = test.rows();
		this.share = Share.of(test.rows(), group.rank(), group.worldSize());
	}

	/** Number of test samples. */
	int samples() {
		return this.count;
	}

	/**
	 * Share of correctly classified test samples after a step, 0 to 1. A collective call.
	 */
	double accuracy(long step) {
		if (this.testedStep != step) {
			long[] correct = { this.replica.countCorrect(this.samples, this.share) };
			this.group.allReduce(correct, ReduceOp.SUM);
			this.allReducedBytes += Long.BYTES;
			this.accuracy = (double) correct[0] / this.count;
			this.testedStep = step;
		}
		return this.accuracy;
	}

	long allReducedBytes() {
		return this.allReducedBytes;
	}

	@Override
	public void close() {
		this.samples.close();
	}

}
