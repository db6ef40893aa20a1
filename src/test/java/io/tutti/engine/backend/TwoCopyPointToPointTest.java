package io.tutti.engine.backend;

import io.tutti.engine.backend.CollectivesContract.World;

/** Messages in shared memory where no rank may read the memory of another. */
class TwoCopyPointToPointTest extends PointToPointContract {

	@Override
	World world(int worldSize) throws Exception {
		return Worlds.memoryWithoutAttach(worldSize);
	}

}
