package io.tutti.engine.backend;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.tutti.CollectiveListener;
import io.tutti.FreePort;
import io.tutti.PeerLostException;
import io.tutti.ProcessGroup;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.RankThreads.Outcome;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The end of an engine. Alone, since it looks at the threads of the process. */
@Timeout(90)
@Isolated
class EngineCloseTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final int WORLD_SIZE = 3;

	private static final int FAILING = 1;

	private final Set<Thread> earlier = Thread.getAllStackTraces().keySet();

	@Test
	void aRankLeavesInOrderThoughTheReleaseOfItsSubgroupsFails() throws Exception {
		int port = FreePort.next();
		List<Engine> engines = RankThreads.run(WORLD_SIZE, LIMIT, (rank) -> Engine
			.join(RankAssignment.onOneHost(rank, WORLD_SIZE, port), EngineSettings.DEFAULTS, CollectiveListener.NONE));
		Engine failing = engines.get(FAILING);
		try {
			split(engines, "the first resource is in use");
			split(engines, "the second resource is in use");
			assertThatThrownBy(failing::close).isInstanceOf(IllegalStateException.class)
				.hasMessage("the second resource is in use")
				.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement()
					.asInstanceOf(InstanceOfAssertFactories.THROWABLE)
					.hasMessage("the first resource is in use"));
			awaitEnd("tutti-r" + FAILING + "-");
			ProcessGroup first = engines.getFirst().world().withTimeout(Duration.ofSeconds(10));
			assertThatThrownBy(first::barrier).isInstanceOfSatisfying(PeerLostException.class, (ex) -> {
				assertThat(ex.failure().ranks()).containsExactly(FAILING);
				assertThat(ex.failure().detail()).contains("has left");
			});
			assertThat(engines.getFirst().closedByKernel()).isEmpty();
		}
		finally {
			engines.reversed().forEach(Engine::close);
		}
	}

	@Test
	void anErrorWhileTheGroupFormsReleasesEverything() throws Exception {
		List<String> segments = segments();
		int port = FreePort.next();
		BackendLayer layer = (_, _, _, _, _, _) -> {
			throw new OutOfMemoryError("for this test");
		};
		List<Outcome<Engine>> outcomes = RankThreads.outcomes(WORLD_SIZE, LIMIT,
				(rank) -> Engine.bootstrap(RankAssignment.onOneHost(rank, WORLD_SIZE, port), EngineSettings.DEFAULTS,
						CollectiveListener.NONE, layer));
		assertThat(outcomes).allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(OutOfMemoryError.class)
			.hasMessage("for this test"));
		awaitEnd("tutti-r");
		assertThat(segments()).isSubsetOf(segments);
	}

	/** Waits until no thread of that name is left but those of earlier tests. */
	private void awaitEnd(String prefix) {
		Awaitility.await()
			.atMost(20, TimeUnit.SECONDS)
			.until(() -> Thread.getAllStackTraces()
				.keySet()
				.stream()
				.filter((thread) -> thread.getName().startsWith(prefix))
				.allMatch(this.earlier::contains));
	}

	/** Shared memory that this process has mapped. */
	private static List<String> segments() throws IOException {
		try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
			return lines.filter((line) -> line.contains("/tutti-")).toList();
		}
	}

	private static void split(List<Engine> engines, String problem) throws Exception {
		RankThreads.run(WORLD_SIZE, LIMIT, (rank) -> {
			ProcessGroup pair = engines.get(rank).world().split((rank == 0) ? -1 : 0, rank);
			if (rank == FAILING) {
				pair.onClose(() -> {
					throw new IllegalStateException(problem);
				});
			}
			return null;
		});
	}

}
