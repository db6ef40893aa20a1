package io.tutti.engine.backend;

import io.tutti.engine.Timeouts;

/**
 * Two hosts of two ranks: the ranks of both hosts detect the loss of a rank.
 */
class HierarchicalFailureTest extends FailureContract {

	@Override
	MortalWorld world(int worldSize, Timeouts timeouts) throws Exception {
		return new HierarchicalWorld(worldSize, timeouts, (rank) -> rank / 2);
	}

}
