package io.tutti.engine.backend;

import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.CollectivesContract.World;

/** Messages through memory inside a host and through queues between two. */
class HierarchicalPointToPointTest extends PointToPointContract {

	@Override
	World world(int worldSize) throws Exception {
		return new HierarchicalWorld(worldSize, Timeouts.DEFAULTS, (rank) -> rank % 3 / 2);
	}

}
