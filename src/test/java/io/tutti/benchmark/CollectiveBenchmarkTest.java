package io.tutti.benchmark;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
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

	@Test
	void wrongResultsOfAnotherRootAreCounted() throws Exception {
		List<Operation> rooted = List.of(Operation.BROADCAST, Operation.SCATTER, Operation.REDUCE, Operation.GATHER);
		BenchmarkOptions options = options(rooted, 1);
		for (List<Measurement> lines : run(options, (group) -> faulty(group, (_, root) -> root == 1))) {
			assertThat(lines).extracting(Measurement::operation).containsExactlyElementsOf(rooted);
			assertThat(lines).allSatisfy((line) -> assertThat(line.wrong()).as("%s", line.operation()).isPositive());
		}
	}

	/**
	 * Calls of each line: checked ones, 16 of warm-up, 20 samples of 16, a checked sample
	 * of 16, checked ones.
	 */
	@Test
	void wrongResultsOfTheSampleAfterTheTimedOnesAreCounted() throws Exception {
		int samples = 20;
		BenchmarkOptions options = options(List.of(Operation.ALL_GATHER), samples);
		int last = 1 + 16 + (samples + 1) * 16;
		for (List<Measurement> lines : run(options, (group) -> faulty(group, (call, _) -> call == last))) {
			assertThat(lines).singleElement().satisfies((line) -> assertThat(line.wrong()).isPositive());
		}
		options = options(List.of(Operation.SCATTER), samples);
		int lastScatter = RANKS + 16 + (samples + 1) * 16;
		for (List<Measurement> lines : run(options, (group) -> faulty(group, (call, _) -> call == lastScatter))) {
			assertThat(lines).singleElement().satisfies((line) -> assertThat(line.wrong()).isPositive());
		}
	}

	@Test
	void resultsThatAreWrongFromTheHundredthCallOnAreCounted() throws Exception {
		List<Operation> operations = List.of(Operation.ALL_REDUCE, Operation.BROADCAST, Operation.REDUCE);
		for (List<Measurement> lines : run(options(operations, 20),
				(group) -> faulty(group, (call, _) -> call >= 100))) {
			assertThat(lines).hasSize(3)
				.allSatisfy((line) -> assertThat(line.wrong()).as("%s", line.operation()).isPositive());
		}
	}

	private static BenchmarkOptions options(List<Operation> operations, int iterations) {
		return new BenchmarkOptions(operations, 1200, 1200, 2, iterations, 1, DataType.FLOAT32, ReduceOp.SUM,
				BufferKind.PRIVATE, Duration.ofMillis(1));
	}

	/** When a call is wrong, by its number from 1 and its root, which is -1 for none. */
	private interface Fault {

		boolean affects(int call, int root);

	}

	/**
	 * A group whose calls on buffers can leave a wrong first element in the last of them.
	 */
	private static ProcessGroup faulty(ProcessGroup group, Fault fault) {
		AtomicInteger calls = new AtomicInteger();
		return (ProcessGroup) Proxy.newProxyInstance(ProcessGroup.class.getClassLoader(),
				new Class<?>[] { ProcessGroup.class }, (_, method, arguments) -> {
					Object result = method.invoke(group, arguments);
					List<MemorySegment> buffers = Stream.of((arguments != null) ? arguments : new Object[0])
						.filter(MemorySegment.class::isInstance)
						.map(MemorySegment.class::cast)
						.toList();
					int root = (!buffers.isEmpty() && arguments[arguments.length - 1] instanceof Integer last) ? last
							: -1;
					if (!buffers.isEmpty() && fault.affects(calls.incrementAndGet(), root)) {
						buffers.getLast().set(ValueLayout.JAVA_FLOAT, 0, 1e6f);
					}
					return result;
				});
	}

	private static List<List<Measurement>> run(BenchmarkOptions options) throws Exception {
		return run(options, (group) -> group);
	}

	private static List<List<Measurement>> run(BenchmarkOptions options, UnaryOperator<ProcessGroup> groups)
			throws Exception {
		List<List<Measurement>> all = new ArrayList<>();
		try (SimulatedWorld world = new SimulatedWorld(RANKS, Timeouts.DEFAULTS);
				ExecutorService ranks = Executors.newFixedThreadPool(RANKS)) {
			List<Future<List<Measurement>>> running = new ArrayList<>();
			for (int rank = 0; rank < RANKS; rank++) {
				CollectiveBenchmark benchmark = new CollectiveBenchmark(groups.apply(world.group(rank)), options,
						CoreBinding.NONE);
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
