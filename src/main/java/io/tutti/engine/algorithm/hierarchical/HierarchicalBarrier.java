package io.tutti.engine.algorithm.hierarchical;

import io.tutti.engine.Call;
import io.tutti.engine.algorithm.Algorithm;

/**
 * Barrier on two levels: the host's ranks meet, their leaders meet, and the host's ranks
 * meet again, which lets them go. {@code log2} of the hosts steps between hosts.
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
