package io.tutti.engine.backend;

import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;

class SimulatedFailureTest extends FailureContract {

	@Override
	MortalWorld world(int worldSize, Timeouts timeouts) {
		SimulatedWorld world = new SimulatedWorld(worldSize, timeouts);
		return new MortalWorld() {
			@Override
			public ProcessGroup group(int rank) {
				return world.group(rank);
			}

			@Override
			public void kill(int rank) {
				world.kill(rank);
			}

			@Override
			public void close() {
				world.close();
			}
		};
	}

}
