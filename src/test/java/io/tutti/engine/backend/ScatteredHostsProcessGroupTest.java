package io.tutti.engine.backend;

/**
 * Two hosts of different sizes with non-consecutive ranks.
 */
class ScatteredHostsProcessGroupTest extends ProcessGroupContract {

	@Override
	World world(int worldSize) throws Exception {
		return (worldSize == 1) ? SharedProcessGroupTest.alone(HierarchicalProcessGroupTest.TIMEOUTS)
				: new HierarchicalWorld(worldSize, HierarchicalProcessGroupTest.TIMEOUTS, (rank) -> rank % 3 / 2);
	}

}
