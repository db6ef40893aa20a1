package io.tutti.engine.backend;

import io.tutti.engine.Timeouts;

/** Two hosts of two ranks: the lost rank's neighbour and those across all hear of it. */
class HierarchicalFailureTest extends FailureContract {

	@Override
	MortalWorld world(int worldSize, Timeouts timeouts) throws Exception {
		return new HierarchicalWorld(worldSize, timeouts, (rank) -> rank / 2);
	}

}
