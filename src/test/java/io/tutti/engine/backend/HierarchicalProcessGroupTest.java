package io.tutti.engine.backend;

import java.time.Duration;

import io.tutti.engine.Timeouts;

/**
 * Two consecutive ranks on each host; the last host may have one rank.
 */
class HierarchicalProcessGroupTest extends ProcessGroupContract {

	static final Timeouts TIMEOUTS = Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(30));

	@Override
	World world(int worldSize) throws Exception {
		return (worldSize == 1) ? SharedProcessGroupTest.alone(TIMEOUTS)
				: new HierarchicalWorld(worldSize, TIMEOUTS, (rank) -> rank / 2);
	}

}
