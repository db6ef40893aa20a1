package io.tutti.engine.backend;

import io.tutti.BackendUnavailableException;
import io.tutti.CollectiveListener;
import io.tutti.ReduceOp;
import io.tutti.engine.RankAssignment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(60)
class BackendsTest {

	@Test
	void everyBackendReportsItsAvailabilityWithAReason() {
		assertThat(Backends.availabilities(EngineSettings.DEFAULTS)).containsOnlyKeys("tcp", "mpi", "nccl")
			.allSatisfy((name, answer) -> {
				assertThat(answer.reason()).isNotBlank();
				assertThat(answer.available() || answer.action() != null).isTrue();
			});
	}

	@Test
	void anUnknownBackendIsRejectedWithTheKnownNames() {
		assertThatExceptionOfType(BackendUnavailableException.class)
			.isThrownBy(() -> Engine.join(RankAssignment.single(), settings("gloo"), CollectiveListener.NONE))
			.withMessageContaining("backend gloo is not available")
			.withMessageContaining("tcp, mpi, nccl")
			.satisfies((ex) -> assertThat(ex.backend()).isEqualTo("gloo"))
			.satisfies((ex) -> assertThat(ex.rank()).isZero())
			.satisfies((ex) -> assertThat(ex.worldSize()).isOne());
	}

	@ParameterizedTest
	@ValueSource(strings = { "tcp", "mpi" })
	void aSingleRankFormsAGroupOnTheConfiguredBackend(String name) {
		try (Engine engine = Engine.join(RankAssignment.single(), settings(name), CollectiveListener.NONE)) {
			assertThat(engine.world().backend()).isEqualTo(name);
			float[] values = { 1, 2 };
			engine.world().allReduce(values, ReduceOp.SUM);
			assertThat(values).containsExactly(1, 2);
		}
	}

	private static EngineSettings settings(String backend) {
		return EngineSettings.DEFAULTS.withBackend(backend, null);
	}

}
