package io.tutti.benchmark;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.SimulatedWorld;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests which operations a benchmark runs and checks, but not its timings.
 */
@Timeout(120)
class CollectiveBenchmarkTest {

	private static final int RANKS = 3;

	/** One operation of each kind, since the first calls of each take time to compile. */
	private static final List<Operation> OPERATIONS = List.of(Operation.ALL_GATHER, Operation.SEND_RECEIVE,
			Operation.BARRIER);

	@Test
	void everyOperationIsMeasuredAndCorrectOnEveryRank() throws Exception {
		BenchmarkOptions options = new BenchmarkOptions(OPERATIONS, 12, 1200, 100, 5, 1, DataType.FLOAT32, ReduceOp.SUM,
				BufferKind.PRIVATE, Duration.ofMillis(1));
		for (List<Measurement> lines : run(options)) {
			assertThat(lines).extracting(Measurement::operation)
				.containsExactly(Operation.ALL_GATHER, Operation.ALL_GATHER, Operation.SEND_RECEIVE,
						Operation.SEND_RECEIVE, Operation.BARRIER);
			assertThat(lines).allSatisfy((line) -> {
				assertThat(line.wrong()).as("%s of %s bytes", line.operation(), line.bytes()).isZero();
				assertThat(line.p50Micros()).isPositive();
				assertThat(line.ranks()).isEqualTo(RANKS);
			});
		}
	}

	@Test
	void sizesThatAreRoundedToTheSameOneAreMeasuredOnce() throws Exception {
		BenchmarkOptions options = new BenchmarkOptions(List.of(Operation.ALL_GATHER, Operation.SEND_RECEIVE), 4, 32, 2,
				5, 1, DataType.FLOAT32, ReduceOp.SUM, BufferKind.PRIVATE, Duration.ofMillis(1));
		for (List<Measurement> lines : run(options)) {
			assertThat(lines).extracting(Measurement::bytes).containsExactly(12L, 24L, 4L, 8L, 16L, 32L);
		}
	}

	private static List<List<Measurement>> run(BenchmarkOptions options) throws Exception {
		List<List<Measurement>> all = new ArrayList<>();
		try (SimulatedWorld world = new SimulatedWorld(RANKS, Timeouts.DEFAULTS);
				ExecutorService ranks = Executors.newFixedThreadPool(RANKS)) {
			List<Future<List<Measurement>>> running = new ArrayList<>();
			for (int rank = 0; rank < RANKS; rank++) {
				CollectiveBenchmark benchmark = new CollectiveBenchmark(world.group(rank), options, CoreBinding.NONE);
				running.add(ranks.submit(() -> {
					List<Measurement> lines = new ArrayList<>();
					benchmark.run(lines::add);
					return lines;
				}));
			}
			for (Future<List<Measurement>> one : running) {
				all.add(one.get(100, TimeUnit.SECONDS));
			}
		}
		return all;
	}

}
