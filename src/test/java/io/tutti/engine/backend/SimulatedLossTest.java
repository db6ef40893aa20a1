package io.tutti.engine.backend;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveTimeoutException;
import io.tutti.GroupState;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Effect of a lost rank on groups that contain it and on other groups.
 */
@Timeout(60)
class SimulatedLossTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	@Test
	void aLostRankBreaksOnlyTheGroupsThatContainIt() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(4, Timeouts.DEFAULTS)) {
			ConcurrentHashMap<Integer, ProcessGroup> halves = new ConcurrentHashMap<>();
			CyclicBarrier killed = new CyclicBarrier(4);
			RankThreads.run(4, LIMIT, (rank) -> {
				ProcessGroup half = world.group(rank).split(rank % 2, rank);
				halves.put(rank, half);
				half.barrier();
				killed.await(20, TimeUnit.SECONDS);
				if (rank == 3) {
					world.kill(3);
					return null;
				}
				while (world.group(rank).failure() == null) {
					Thread.onSpinWait();
				}
				if (rank % 2 == 0) {
					half.barrier();
				}
				return null;
			});
			assertThat(halves.get(0).state()).isEqualTo(GroupState.READY);
			assertThat(halves.get(2).state()).isEqualTo(GroupState.READY);
			assertThat(halves.get(1).state()).isEqualTo(GroupState.BROKEN);
		}
	}

	/** Rank 2 passes the broadcast of rank 0 on to rank 3. */
	@Test
	void aTimeoutDoesNotNameARankThatWaitsInAnEarlierCallForTheMissingOne() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(4, Timeouts.DEFAULTS)) {
			List<Outcome<Object>> outcomes = RankThreads.outcomes(4, LIMIT, (rank) -> {
				if (rank != 2) {
					world.group(rank).withTimeout(LIMIT).broadcast(new int[1], 0);
					if (rank == 0) {
						RankThreads.awaitStarted(1, world.group(1));
						RankThreads.awaitStarted(0, world.group(3));
					}
					world.group(rank).withTimeout((rank == 0) ? Duration.ofMillis(300) : LIMIT).barrier();
				}
				return null;
			});
			assertThat(outcomes.get(0).failure()).isInstanceOfSatisfying(CollectiveTimeoutException.class,
					(ex) -> assertThat(ex.failure().ranks()).containsExactly(2));
		}
	}

}
