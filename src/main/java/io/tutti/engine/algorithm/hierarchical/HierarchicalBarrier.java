package io.tutti.engine.algorithm.hierarchical;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.spi.Call;

/**
 * Two-level barrier: a barrier within each host, one between leaders, and a second one
 * within each host, which releases its ranks. Takes {@code log2 H} steps between
 * {@code H} hosts.
 */
final class HierarchicalBarrier implements Algorithm {

	private final Levels levels;

	HierarchicalBarrier(Levels levels) {
		this.levels = levels;
	}

	@Override
	public void run(Call call) {
		this.levels.barrierWithin(call);
		if (this.levels.place() == 0) {
			this.levels.barrierAcross(call);
		}
		this.levels.barrierWithin(call);
	}

}
