package io.tutti.engine.backend;

import java.time.Duration;

import io.tutti.engine.Timeouts;

/**
 * Every link-based algorithm over the rings in shared memory.
 */
class SharedLinkProcessGroupTest extends ProcessGroupContract {

	@Override
	World world(int worldSize) throws Exception {
		Timeouts timeouts = Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(30));
		return (worldSize == 1) ? SharedProcessGroupTest.alone(timeouts)
				: new SharedWorld(worldSize, timeouts, SharedWorld.Ways.LINKS);
	}

}
