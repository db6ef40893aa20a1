package io.tutti.engine.backend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.tutti.CollectiveListener;
import io.tutti.CollectiveTimeoutException;
import io.tutti.FreePort;
import io.tutti.GroupAbortedException;
import io.tutti.ProcessGroup;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.RankThreads.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(60)
class EngineAbortTest {

	/** The runtime may end every process at once, as {@code MPI_Abort} does. */
	@Test
	void theGroupFailsWithTheReasonBeforeTheRuntimeEndsTheJob() {
		List<String> ends = new ArrayList<>();
		try (Engine joined = Engine.join(RankAssignment.single(), EngineSettings.DEFAULTS, CollectiveListener.NONE)) {
			JobRuntime runtime = new JobRuntime() {
				@Override
				public void abort(int code, String reason) {
					ends.add(code + " for " + reason + ", group: "
							+ Objects.requireNonNull(joined.world().failure()).describe());
				}

				@Override
				public void close() {
				}
			};
			new Engine(joined.membership(), new GroupRegistry(CollectiveListener.NONE), joined.world(), runtime)
				.abort(80, "the disk is full");
		}
		assertThat(ends).singleElement()
			.asString()
			.startsWith("80 for the disk is full, group: ")
			.endsWith("the disk is full");
	}

	/** The verdict on the group of all ranks breaks no other group then. */
	@Test
	void anAbortAfterTheGroupOfAllRanksHasFailedEndsTheOthers() throws Exception {
		int port = FreePort.next();
		Duration limit = Duration.ofSeconds(60);
		List<Engine> engines = RankThreads.run(3, limit, (rank) -> Engine.join(RankAssignment.onOneHost(rank, 3, port),
				EngineSettings.DEFAULTS, CollectiveListener.NONE));
		try {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(3, limit, (rank) -> {
				ProcessGroup world = engines.get(rank).world();
				try (ProcessGroup part = world.split(0, rank)) {
					if (rank != 2) {
						assertThatExceptionOfType(CollectiveTimeoutException.class)
							.isThrownBy(world.withTimeout(Duration.ofMillis(500))::barrier);
					}
					if (rank == 1) {
						engines.get(rank).abort(80, "the disk is full");
					}
					part.barrier();
				}
				return null;
			});
			assertThat(outcomes)
				.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(GroupAbortedException.class)
					.hasMessageContaining("the disk is full"));
		}
		finally {
			engines.reversed().forEach(Engine::close);
		}
	}

}
