package io.tutti.engine.backend;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import io.tutti.engine.diagnosis.Analysis;
import io.tutti.engine.diagnosis.GroupFinding;
import io.tutti.engine.diagnosis.RankTrace;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static java.lang.foreign.MemorySegment.ofArray;
import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class AccountsTest {

	private static final int WORLD_SIZE = 3;

	private static Map<Integer, RankTrace> ask(SimulatedWorld world, int rank) {
		return RankTrace.decodeAll(world.control(rank).queryTraces(100, Duration.ofSeconds(5)));
	}

	@Test
	void everyRankGetsTheMissingRankWhileTheOthersHang() {
		try (SimulatedWorld world = new SimulatedWorld(WORLD_SIZE, Timeouts.DEFAULTS)) {
			for (int rank = 0; rank < WORLD_SIZE - 1; rank++) {
				world.group(rank).allReduceAsync(ofArray(new float[8]), DataType.FLOAT32, ReduceOp.SUM);
			}
			for (int asked = 0; asked < WORLD_SIZE; asked++) {
				int self = asked;
				Awaitility.await().atMost(20, TimeUnit.SECONDS).untilAsserted(() -> {
					Analysis analysis = Analysis.of(WORLD_SIZE, ask(world, self));
					assertThat(analysis.findings()).first()
						.extracting(GroupFinding::kind)
						.isEqualTo(GroupFinding.Kind.MISSING);
					assertThat(analysis.verdict())
						.startsWith("rank 2 is missing from all-reduce #0 (count 8, float32, sum) of group world: "
								+ "rank 2 has entered no call of it; ranks 0 and 1 have been in it for ");
				});
			}
		}
	}

	@Test
	void aLostRankReturnsNoTrace() {
		try (SimulatedWorld world = new SimulatedWorld(WORLD_SIZE, Timeouts.DEFAULTS)) {
			assertThat(ask(world, 1)).containsOnlyKeys(0, 1, 2);
			world.kill(2);
			Awaitility.await().atMost(20, TimeUnit.SECONDS).until(() -> world.group(0).failure() != null);
			assertThat(world.group(0).failure().kind()).isEqualTo(Failure.Kind.PEER_LOST);
			assertThat(ask(world, 0)).containsOnlyKeys(0, 1);
			assertThat(Analysis.of(WORLD_SIZE, ask(world, 1)).verdict()).startsWith("rank 2 returned no trace");
		}
	}

}
