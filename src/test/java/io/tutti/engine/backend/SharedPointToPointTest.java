package io.tutti.engine.backend;

import io.tutti.engine.backend.CollectivesContract.World;

class SharedPointToPointTest extends PointToPointContract {

	@Override
	World world(int worldSize) throws Exception {
		return Worlds.memory(worldSize);
	}

}
