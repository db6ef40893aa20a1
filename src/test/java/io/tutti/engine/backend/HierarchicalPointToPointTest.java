package io.tutti.engine.backend;

import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.CollectivesContract.World;

/**
 * Messages through shared memory within a host and through queues between hosts.
 */
class HierarchicalPointToPointTest extends PointToPointContract {

	@Override
	World world(int worldSize) throws Exception {
		return new HierarchicalWorld(worldSize, Timeouts.DEFAULTS, (rank) -> rank % 3 / 2);
	}

}
