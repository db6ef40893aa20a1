package io.tutti.engine.backend;

import java.time.Duration;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Every collective once with many ranks in one JVM. All-to-all with unequal counts is
 * left out: it connects every pair of ranks, which takes 64 GiB in one process of 1,024
 * ranks.
 */
@Timeout(240)
class ManyRanksStressTest {

	/**
	 * No power of two, and more than the largest limit in the table of algorithms; set by
	 * {@code -Dtutti.test.ranks}.
	 */
	private static final int RANKS = Integer.getInteger("tutti.test.ranks", 520);

	private static final int ROOT = RANKS * 3 / 4;

	@Test
	void everyCollectiveWorksOnHundredsOfRanks() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, Timeouts.DEFAULTS)) {
			RankThreads.runVirtual(RANKS, Duration.ofSeconds(200), (rank) -> {
				for (Collective collective : Collective.values()) {
					run(world, rank, collective, false);
				}
				for (Collective collective : CallSpec.UNEVEN) {
					if (collective != Collective.ALL_TO_ALL) {
						run(world, rank, collective, true);
					}
				}
				return null;
			});
		}
	}

	private static void run(SimulatedWorld world, int rank, Collective collective, boolean uneven) {
		CollectivesContract.runAndCheck(world.group(rank),
				new CallSpec(collective, uneven, DataType.INT64, ReduceOp.SUM, ROOT, 2));
	}

}
