package io.tutti.engine.backend;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.tutti.Collective;
import io.tutti.CollectiveMismatchException;
import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.backend.RankThreads.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The contract of every collective over every transport, at every world size.
 */
@Timeout(120)
abstract class CollectivesContract {

	static final Duration LIMIT = Duration.ofSeconds(60);

	/** Number of random sequences of calls; set by {@code -Dtutti.test.rounds}. */
	static final int ROUNDS = Integer.getInteger("tutti.test.rounds", 12);

	/** The ranks of one group, in threads of this JVM. */
	interface World extends AutoCloseable {

		ProcessGroup group(int rank);

		@Override
		void close();

	}

	/** One rank's side of a mismatched call. */
	interface Side {

		void call(ProcessGroup group) throws Exception;

	}

	abstract World world(int worldSize) throws Exception;

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 4, 5, 7, 8, 13 })
	void everyCollectiveMatchesTheSingleThreadedReference(int worldSize) throws Exception {
		try (World world = world(worldSize)) {
			RankThreads.run(worldSize, LIMIT, (rank) -> {
				for (Collective collective : Collective.values()) {
					for (CallSpec spec : CallSpec.of(collective, worldSize)) {
						runAndCheck(world.group(rank), spec);
					}
				}
				return null;
			});
		}
	}

	static void runAndCheck(ProcessGroup group, CallSpec spec) {
		try (Arena arena = Arena.ofConfined()) {
			Trial trial = new Trial(group, spec, (bytes) -> arena.allocate(bytes, 64));
			trial.run();
			trial.check();
		}
	}

	@Test
	void callsThatWaitOnVirtualThreadsLetTheOthersRun() throws Exception {
		int worldSize = 1 + Runtime.getRuntime().availableProcessors();
		int last = worldSize - 1;
		try (World world = world(worldSize)) {
			RankThreads.runVirtual(worldSize, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				int[] values = { 1 };
				if (rank == last) {
					untilOthersSleep();
				}
				group.allReduce(values, ReduceOp.SUM);
				assertThat(values).containsExactly(worldSize);
				MemorySegment message = Arena.ofAuto().allocate(DataType.INT32.bytes());
				if (rank < last) {
					group.receive(message, DataType.INT32, last, 0);
					return null;
				}
				untilOthersSleep();
				for (int peer = 0; peer < last; peer++) {
					group.send(message, DataType.INT32, peer, 0);
				}
				return null;
			});
		}
	}

	private static void untilOthersSleep() throws InterruptedException {
		Thread.sleep(50);
	}

	@Test
	void randomCallSequencesMatchTheSingleThreadedReference() throws Exception {
		long seed = Long.getLong("tutti.test.seed", System.nanoTime());
		Random sizes = new Random(seed);
		for (int round = 0; round < ROUNDS; round++) {
			int worldSize = 1 + sizes.nextInt(7);
			long roundSeed = sizes.nextLong();
			try (World world = world(worldSize)) {
				RankThreads.run(worldSize, LIMIT, (rank) -> {
					runSequence(world.group(rank), new Random(roundSeed));
					return null;
				});
			}
			catch (Exception | AssertionError ex) {
				throw new AssertionError("failed with -Dtutti.test.seed=" + seed + " in round " + round, ex);
			}
		}
	}

	/**
	 * Synchronous and asynchronous calls in random order, several in flight at a time.
	 */
	static void runSequence(ProcessGroup group, Random random) throws Exception {
		try (Arena arena = Arena.ofShared()) {
			List<Trial> trials = new ArrayList<>();
			List<CompletableFuture<Void>> futures = new ArrayList<>();
			for (int call = 0; call < 15; call++) {
				Trial trial = new Trial(group, CallSpec.random(random, group.worldSize()), arena::allocate);
				trials.add(trial);
				if (random.nextBoolean()) {
					futures.add(trial.runAsync());
				}
				else {
					trial.run();
				}
			}
			CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new)).get(LIMIT.toSeconds(), TimeUnit.SECONDS);
			trials.forEach(Trial::check);
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 3 })
	void heapAndMappedBuffersGiveTheSameResultsAsNativeOnes(int worldSize, @TempDir Path directory) throws Exception {
		try (World world = world(worldSize)) {
			RankThreads.run(worldSize, LIMIT, (rank) -> {
				for (Collective collective : Collective.values()) {
					for (boolean uneven : new boolean[] { false, CallSpec.UNEVEN.contains(collective) }) {
						CallSpec spec = new CallSpec(collective, uneven, DataType.INT32, ReduceOp.SUM, 0, 500);
						Trial heap = new Trial(world.group(rank), spec,
								(bytes) -> MemorySegment.ofArray(new byte[(int) bytes]));
						heap.run();
						heap.check();
						try (Arena arena = Arena.ofConfined()) {
							Trial mapped = new Trial(world.group(rank), spec,
									(bytes) -> map(directory.resolve("rank" + rank), bytes, arena));
							mapped.run();
							mapped.check();
						}
					}
				}
				return null;
			});
		}
	}

	private static MemorySegment map(Path prefix, long bytes, Arena arena) {
		Path file = prefix.resolveSibling(prefix.getFileName() + "-" + System.nanoTime());
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ,
				StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE)) {
			return channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
		}
		catch (IOException ex) {
			throw new java.io.UncheckedIOException(ex);
		}
	}

	@Test
	void arraysGiveTheSameResultsAsSegments() throws Exception {
		try (World world = world(3)) {
			RankThreads.run(3, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				float[] floats = { rank, 1 };
				group.allReduce(floats, ReduceOp.SUM);
				assertThat(floats).containsExactly(3, 3);
				double[] doubles = { rank + 0.5 };
				group.broadcast(doubles, 2);
				assertThat(doubles).containsExactly(2.5);
				int[] all = new int[3];
				group.allGather(new int[] { 10 * rank }, all);
				assertThat(all).containsExactly(0, 10, 20);
				long[] own = new long[1];
				group.reduceScatter(new long[] { 1, 10, rank }, own, ReduceOp.SUM);
				assertThat(own[0]).isEqualTo(new long[] { 3, 30, 3 }[rank]);
				return null;
			});
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 4, 5, 8 })
	void partsMayLieInPlaceInEveryCollective(int worldSize) throws Exception {
		try (World world = world(worldSize)) {
			RankThreads.run(worldSize, LIMIT, (rank) -> {
				InPlaceLayouts.check(world.group(rank));
				return null;
			});
		}
	}

	/** Rank 0's part begins where the whole begins. No larger call came before. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aPartOnTheHeapMayLieInPlaceInTheFirstCall(boolean reduces) throws Exception {
		try (World world = world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				long[] values = new long[200_000];
				Arrays.setAll(values, (i) -> i + rank);
				MemorySegment whole = MemorySegment.ofArray(values);
				MemorySegment part = whole.asSlice(rank * whole.byteSize() / 2, whole.byteSize() / 2);
				if (reduces) {
					group.reduceScatter(whole, part, DataType.INT64, ReduceOp.SUM);
				}
				else {
					group.scatter((rank == 0) ? whole : MemorySegment.NULL, part, DataType.INT64, 0);
				}
				for (int i = rank * 100_000; i < (rank + 1) * 100_000; i++) {
					assertThat(values[i]).isEqualTo(reduces ? 2 * i + 1 : i);
				}
				return null;
			});
		}
	}

	@Test
	void theRootMayReduceInPlace() throws Exception {
		try (World world = world(3)) {
			RankThreads.run(3, LIMIT, (rank) -> {
				MemorySegment buffer = MemorySegment.ofArray(new int[] { rank, 7 });
				MemorySegment receive = (rank == 1) ? buffer : MemorySegment.NULL;
				world.group(rank).reduce(buffer, receive, DataType.INT32, ReduceOp.MAX, 1);
				assertThat(Elements.get(buffer, DataType.INT32, 0)).isEqualTo((rank == 1) ? 2 : rank);
				return null;
			});
		}
	}

	static Stream<Arguments> disagreements() {
		return Stream.of(
				disagreement("two collectives", "all-reduce #1", "all-gather #1",
						(group) -> group.allReduce(ints(4), DataType.INT32, ReduceOp.SUM),
						(group) -> group.allGather(ints(4), ints(8), DataType.INT32)),
				disagreement("two types", "int32", "float32",
						(group) -> group.allReduce(ints(4), DataType.INT32, ReduceOp.SUM),
						(group) -> group.allReduce(ints(4), DataType.FLOAT32, ReduceOp.SUM)),
				disagreement("two operators", "product", "max",
						(group) -> group.reduceScatter(ints(8), ints(4), DataType.INT32, ReduceOp.PRODUCT),
						(group) -> group.reduceScatter(ints(8), ints(4), DataType.INT32, ReduceOp.MAX)),
				disagreement("two counts to reduce", "count 9", "count 4",
						(group) -> group.reduce(ints(9), ints(9), DataType.INT32, ReduceOp.SUM, 0),
						(group) -> group.reduce(ints(4), ints(4), DataType.INT32, ReduceOp.SUM, 0)),
				disagreement("two counts to broadcast", "count 90000", "count 4",
						(group) -> group.broadcast(ints(90_000), DataType.INT32, 0),
						(group) -> group.broadcast(ints(4), DataType.INT32, 0)),
				disagreement("two counts to gather", "count 3", "count 4",
						(group) -> group.gather(ints(3), ints(6), DataType.INT32, 0),
						(group) -> group.gather(ints(4), ints(8), DataType.INT32, 0)),
				disagreement("two counts to scatter", "count 3", "count 4",
						(group) -> group.scatter(ints(6), ints(3), DataType.INT32, 0),
						(group) -> group.scatter(ints(8), ints(4), DataType.INT32, 0)),
				disagreement("two counts to exchange", "count 3", "count 4",
						(group) -> group.allToAll(ints(6), ints(3 * 2), DataType.INT32),
						(group) -> group.allToAll(ints(8), ints(8), DataType.INT32)),
				disagreement("uneven counts in another order", "5 in all", "5 in all",
						(group) -> group.allGather(ints(2), ints(5), new long[] { 2, 3 }, DataType.INT32),
						(group) -> group.allGather(ints(2), ints(5), new long[] { 3, 2 }, DataType.INT32)),
				disagreement("uneven and even", "counts by rank, 8 in all", "count 4",
						(group) -> group.reduceScatter(ints(8), ints(4), new long[] { 4, 4 }, DataType.INT32,
								ReduceOp.SUM),
						(group) -> group.reduceScatter(ints(8), ints(4), DataType.INT32, ReduceOp.SUM)),
				disagreement("what one sends and the other expects", "sends 2 elements", "expects 3",
						(group) -> group.allToAll(ints(3), new long[] { 1, 2 }, ints(2), new long[] { 1, 1 },
								DataType.INT32),
						(group) -> group.allToAll(ints(2), new long[] { 1, 1 }, ints(4), new long[] { 3, 1 },
								DataType.INT32)),
				disagreement("a barrier and data", "barrier #1", "broadcast #1", ProcessGroup::barrier,
						(group) -> group.broadcast(ints(4), DataType.INT32, 0)),
				disagreement("calls in which nobody waits", "#1 (count 4, int32, root 0)",
						"#1 (count 4, int32, root 0)", (group) -> group.scatter(ints(8), ints(4), DataType.INT32, 0),
						(group) -> group.gather(ints(4), ints(8), DataType.INT32, 0)));
	}

	private static Arguments disagreement(String name, String first, String second, Side zero, Side one) {
		return Arguments.of(name, first, second, zero, one);
	}

	private static MemorySegment ints(int count) {
		return MemorySegment.ofArray(new int[count]);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("disagreements")
	void mismatchedCallsFailAndNameBothCalls(String name, String first, String second, Side zero, Side one)
			throws Exception {
		try (World world = world(2)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				world.group(rank).barrier();
				((rank == 0) ? zero : one).call(world.group(rank));
				world.group(rank).barrier();
				return null;
			});
			for (Outcome<Void> outcome : outcomes) {
				assertThat(outcome.failure()).isInstanceOf(CollectiveMismatchException.class)
					.hasMessageContaining(first)
					.hasMessageContaining(second);
			}
		}
	}

	static Stream<Arguments> badArguments() {
		MemorySegment whole = ints(8);
		MemorySegment closed;
		try (Arena arena = Arena.ofConfined()) {
			closed = arena.allocate(16);
		}
		DataType type = DataType.INT32;
		return Stream.of(bad("op must not be null", (group) -> group.reduce(ints(4), ints(4), type, null, 0)),
				bad("op must not be null", (group) -> group.allReduceAsync(ints(4), type, null).toFuture()),
				bad("closed", (group) -> group.reduce(closed, ints(4), type, ReduceOp.SUM, 0)),
				bad("16 bytes", (group) -> group.reduce(ints(4), ints(5), type, ReduceOp.SUM, group.rank())),
				bad("overlap",
						(group) -> group.reduce(whole.asSlice(0, 16), whole.asSlice(4, 16), type, ReduceOp.SUM,
								group.rank())),
				bad("0..1", (group) -> group.reduce(ints(4), ints(4), type, ReduceOp.SUM, -1)),
				bad("32 bytes", (group) -> group.reduceScatter(ints(7), ints(4), type, ReduceOp.SUM)),
				bad("overlap", (group) -> group.reduceScatter(whole, whole.asSlice(8, 16), type, ReduceOp.SUM)),
				bad("one per rank (2), got 3",
						(group) -> group.reduceScatter(ints(8), ints(4), new long[3], type, ReduceOp.SUM)),
				bad("counts[1] must be at least 0, got -4",
						(group) -> group.reduceScatter(ints(0), ints(4), new long[] { 4, -4 }, type, ReduceOp.SUM)),
				bad("32 bytes",
						(group) -> group.reduceScatter(ints(7), ints(4), new long[] { 4, 4 }, type, ReduceOp.SUM)),
				bad("20 bytes", (group) -> group.allGather(ints(2 + group.rank()), ints(6), new long[] { 2, 3 }, type)),
				bad("32 bytes", (group) -> group.gather(ints(4), ints(7), type, group.rank())),
				bad("read-only", (group) -> group.gather(ints(4), ints(8).asReadOnly(), type, group.rank())),
				bad("0..1", (group) -> group.gather(ints(4), ints(8), type, 2)),
				bad("32 bytes", (group) -> group.scatter(ints(9), ints(4), type, group.rank())),
				bad("not whole elements",
						(group) -> group.scatter(MemorySegment.ofArray(new byte[12]),
								MemorySegment.ofArray(new byte[6]), type, group.rank())),
				bad("overlap", (group) -> group.scatter(whole, whole.asSlice(8, 16), type, group.rank())),
				bad("multiples of 8", (group) -> group.allToAll(ints(7), ints(7), type)),
				bad("32 bytes", (group) -> group.allToAll(ints(8), ints(10), type)),
				bad("overlap", (group) -> group.allToAll(whole, whole, type)),
				bad("to itself",
						(group) -> group.allToAll(ints(4), new long[] { 2, 2 }, ints(2), new long[] { 1, 1 }, type)),
				bad("scan: op must be any but average", (group) -> raw(group, Collective.SCAN, type, ReduceOp.AVERAGE)),
				bad("exclusive-scan: op must not be null",
						(group) -> raw(group, Collective.EXCLUSIVE_SCAN, type, null)),
				bad("bitwise-or needs an integer type, got float32",
						(group) -> raw(group, Collective.SCAN, DataType.FLOAT32, ReduceOp.BITWISE_OR)),
				bad("logical-and needs an integer type, got bfloat16",
						(group) -> group.allReduce(ints(4), DataType.BFLOAT16, ReduceOp.LOGICAL_AND)),
				bad("overlap",
						(group) -> AnyCollective.run(group, Collective.ALL_REDUCE, whole.asSlice(0, 16),
								whole.asSlice(4, 16), type, ReduceOp.SUM, 0, LIMIT)),
				bad("20 bytes",
						(group) -> AnyCollective.runUneven(group, Collective.GATHER, ints(2 + group.rank()), ints(6),
								type, null, group.rank(), new long[] { 2, 3 }, LIMIT)),
				bad("0..1",
						(group) -> AnyCollective.runUneven(group, Collective.SCATTER, ints(5), ints(2 + group.rank()),
								type, null, 2, new long[] { 2, 3 }, LIMIT)),
				bad("read-only", (group) -> group.broadcastAsync(ints(4).asReadOnly(), type, 1 - group.rank())),
				bad("more than zero", (group) -> group.withTimeout(Duration.ZERO).allToAll(ints(8), ints(8), type)));
	}

	private static void raw(ProcessGroup group, Collective collective, DataType type, ReduceOp op) {
		AnyCollective.run(group, collective, ints(4), ints(4), type, op, 0, LIMIT);
	}

	private static Arguments bad(String message, Side side) {
		return Arguments.of(message, side);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("badArguments")
	void badBuffersRootsAndCountsAreRejectedBeforeAnythingIsSent(String message, Side side) throws Exception {
		try (World world = world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				long before = world.group(rank).lastEntered();
				assertThatThrownBy(() -> side.call(world.group(rank)))
					.isInstanceOf(message.endsWith("must not be null") ? NullPointerException.class
							: IllegalArgumentException.class)
					.hasMessageStartingWith("rank " + rank + " of group world: ")
					.hasMessageContaining(message);
				assertThat(world.group(rank).lastEntered()).isEqualTo(before);
				world.group(rank).barrier();
				return null;
			});
		}
	}

	@Test
	void aSingleRankChecksItsArgumentsAndCopies() throws Exception {
		try (World world = world(1)) {
			ProcessGroup group = world.group(0);
			assertThatThrownBy(() -> group.gather(ints(4), ints(5), DataType.INT32, 0))
				.isInstanceOf(IllegalArgumentException.class);
			assertThatThrownBy(() -> group.scatter(ints(4), ints(4), DataType.INT32, 1))
				.isInstanceOf(IllegalArgumentException.class);
			int[] received = new int[3];
			group.allToAll(MemorySegment.ofArray(new int[] { 1, 2, 3 }), new long[] { 3 },
					MemorySegment.ofArray(received), new long[] { 3 }, DataType.INT32);
			assertThat(received).containsExactly(1, 2, 3);
			Arrays.fill(received, 0);
			group.reduce(MemorySegment.ofArray(new int[] { 4, 5, 6 }), MemorySegment.ofArray(received), DataType.INT32,
					ReduceOp.AVERAGE, 0);
			assertThat(received).containsExactly(4, 5, 6);
		}
	}

}
