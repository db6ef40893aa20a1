package io.tutti.training;

import io.tutti.engine.ProcessGroup;

/**
 * Tries the test samples, each rank a share of them, and adds up what they told right:
 * the same figure on every rank.
 */
final class TestRun implements AutoCloseable {

	private final Replica replica;

	private final StepExchange exchange;

	private final SampleTensors samples;

	private final int count;

	private final Share share;

	private long testedStep = -1;

	private double accuracy;

	TestRun(ProcessGroup group, Dataset test, Replica replica, StepExchange exchange) {
		this.replica = replica;
		this.exchange = exchange;
		this.samples = new SampleTensors(test);
		this.count = test.rows();
		this.share = Share.of(test.rows(), group.rank(), group.worldSize());
	}

	/** How many test samples there are. */
	int samples() {
		return this.count;
	}

	/**
	 * Share of the test samples that the model tells right after a step. A collective
	 * call.
	 */
	double accuracy(long step) {
		if (this.testedStep != step) {
			long correct = this.exchange.addUp(this.replica.countCorrect(this.samples, this.share));
			this.accuracy = (double) correct / this.count;
			this.testedStep = step;
		}
		return this.accuracy;
	}

	@Override
	public void close() {
		this.samples.close();
	}

}
