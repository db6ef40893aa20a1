package io.tutti.engine.backend;

import io.tutti.engine.Timeouts;

/** A dead rank's memory stays as it is: only the control plane tells. */
class SharedFailureTest extends FailureContract {

	@Override
	MortalWorld world(int worldSize, Timeouts timeouts) throws Exception {
		return new SharedWorld(worldSize, timeouts, SharedWorld.Ways.IN_PLACE);
	}

}
