package io.tutti.engine.backend;

import java.time.Duration;
import java.util.List;

import io.tutti.CollectiveException;
import io.tutti.PeerLostException;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads.Outcome;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class SimulatedProcessGroupTest extends ProcessGroupContract {

	@Override
	World world(int worldSize) {
		SimulatedWorld world = new SimulatedWorld(worldSize, Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(30)));
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

	@Test
	void aLostRankFailsTheOthersByName() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(4, Timeouts.DEFAULTS)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(4, LIMIT, (rank) -> {
				world.group(rank).barrier();
				if (rank == 2) {
					world.kill(2);
					return null;
				}
				world.group(rank).barrier();
				return null;
			});
			for (int rank : new int[] { 0, 1, 3 }) {
				assertThat(outcomes.get(rank).failure()).isInstanceOf(PeerLostException.class);
				assertThat(((CollectiveException) outcomes.get(rank).failure()).failure().ranks()).containsExactly(2);
			}
		}
	}

}
