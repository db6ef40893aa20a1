package io.tutti.engine.backend;

import io.tutti.engine.backend.CollectivesContract.World;

class SimulatedSplitTest extends SplitContract {

	@Override
	World world(int worldSize) {
		return Worlds.simulated(worldSize);
	}

}
