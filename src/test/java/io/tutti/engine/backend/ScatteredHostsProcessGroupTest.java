package io.tutti.engine.backend;

/** Ranks dealt out over two hosts like cards: hosts of two sizes, ranks out of order. */
class ScatteredHostsProcessGroupTest extends ProcessGroupContract {

	@Override
	World world(int worldSize) throws Exception {
		return (worldSize == 1) ? SharedProcessGroupTest.alone(HierarchicalProcessGroupTest.TIMEOUTS)
				: new HierarchicalWorld(worldSize, HierarchicalProcessGroupTest.TIMEOUTS, (rank) -> rank % 3 / 2);
	}

}
