package io.tutti.training.checkpoint;

import java.time.Duration;
import java.util.List;

import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(60)
class FailTogetherTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	static List<Throwable> failures() {
		return List.of(new IllegalStateException("no state"), new OutOfMemoryError("no memory"),
				new NoClassDefFoundError("no class"));
	}

	@ParameterizedTest
	@MethodSource("failures")
	void aFailureOfOneRankIsOneOfEveryRank(Throwable failure) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				assertThatExceptionOfType(CheckpointException.class).isThrownBy(() -> FailTogether.run(group, () -> {
					if (rank == 1) {
						fail(failure);
					}
				})).withMessage("rank 1 failed: " + failure).matches(CheckpointException::isKnownToAll);
				group.barrier();
				return null;
			});
		}
	}

	private static void fail(Throwable failure) {
		if (failure instanceof Error error) {
			throw error;
		}
		throw (RuntimeException) failure;
	}

}
