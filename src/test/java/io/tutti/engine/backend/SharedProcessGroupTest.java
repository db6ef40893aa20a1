package io.tutti.engine.backend;

import java.time.Duration;

import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;

class SharedProcessGroupTest extends ProcessGroupContract {

	@Override
	World world(int worldSize) throws Exception {
		Timeouts timeouts = Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(30));
		return (worldSize == 1) ? alone(timeouts) : new SharedWorld(worldSize, timeouts, SharedWorld.Ways.IN_PLACE);
	}

	/** A single rank has no rank to share memory with. */
	static World alone(Timeouts timeouts) {
		SimulatedWorld world = new SimulatedWorld(1, timeouts);
		return new World() {
			@Override
			public ProcessGroup group(int rank) {
				return world.group(rank);
			}

			@Override
			public void close() {
				world.close();
			}
		};
	}

}
