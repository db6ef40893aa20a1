package io.tutti.engine.backend;

import io.tutti.engine.backend.CollectivesContract.World;

class SimulatedPointToPointTest extends PointToPointContract {

	@Override
	World world(int worldSize) {
		return Worlds.simulated(worldSize);
	}

}
