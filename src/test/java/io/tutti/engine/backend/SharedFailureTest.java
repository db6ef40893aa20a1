package io.tutti.engine.backend;

import io.tutti.engine.Timeouts;

/**
 * Shared memory does not reveal a dead rank; only the control plane does.
 */
class SharedFailureTest extends FailureContract {

	@Override
	MortalWorld world(int worldSize, Timeouts timeouts) throws Exception {
		return new SharedWorld(worldSize, timeouts, SharedWorld.Ways.IN_PLACE);
	}

}
