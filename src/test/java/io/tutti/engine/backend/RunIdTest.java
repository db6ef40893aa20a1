package io.tutti.engine.backend;

import java.time.Duration;
import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.FreePort;
import io.tutti.engine.RankAssignment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class RunIdTest {

	private static final int WORLD_SIZE = 2;

	@Test
	void theRanksOfARunShareAnIdThatTheNextRunOfTheJobDoesNotHave() throws Exception {
		List<String> first = runIds();
		List<String> second = runIds();
		assertThat(first).hasSize(WORLD_SIZE).containsOnly(first.getFirst());
		assertThat(second).hasSize(WORLD_SIZE).containsOnly(second.getFirst());
		assertThat(first.getFirst()).isNotEqualTo(second.getFirst());
	}

	private static List<String> runIds() throws Exception {
		int port = FreePort.next();
		return RankThreads.run(WORLD_SIZE, Duration.ofSeconds(30), (rank) -> {
			try (Engine engine = Engine.join(RankAssignment.onOneHost(rank, WORLD_SIZE, port), EngineSettings.DEFAULTS,
					CollectiveListener.NONE)) {
				engine.world().barrier();
				return engine.runId();
			}
		});
	}

}
