package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests each algorithm against the same reference, independently of the selection table.
 */
@Timeout(120)
class SimulatedAlgorithmsTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final int[] WORLD_SIZES = { 2, 3, 4, 5, 7, 8, 13 };

	static Stream<String> algorithms() {
		return Stream.of("all-reduce=ring", "all-reduce=recursive-doubling", "all-reduce=halving-doubling",
				"reduce=binomial", "reduce=binary", "reduce=chain", "reduce=star", "broadcast=binomial",
				"broadcast=binary", "broadcast=chain", "broadcast=star", "all-gather=ring", "all-gather=bruck",
				"reduce-scatter=ring", "reduce-scatter=recursive-doubling", "gather=binomial", "gather=star",
				"scatter=binomial", "scatter=star", "all-to-all=pairwise", "all-to-all=bruck", "scan=chain",
				"exclusive-scan=chain");
	}

	private static SimulatedWorld world(int worldSize, String override) {
		return new SimulatedWorld(worldSize, Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(30)),
				AlgorithmOverrides.from(override));
	}

	private static Collective collective(String override) {
		return Arrays.stream(Collective.values())
			.filter((collective) -> override.startsWith(collective.label() + "="))
			.findFirst()
			.orElseThrow();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void eachAlgorithmMatchesTheSingleThreadedReference(String override) throws Exception {
		for (int worldSize : WORLD_SIZES) {
			try (SimulatedWorld world = world(worldSize, override)) {
				RankThreads.run(worldSize, LIMIT, (rank) -> {
					for (CallSpec spec : CallSpec.of(collective(override), worldSize)) {
						CollectivesContract.runAndCheck(world.group(rank), spec);
					}
					return null;
				});
			}
		}
	}

	/** Parts of which a rank sends only some ahead of those that it receives. */
	@ParameterizedTest
	@ValueSource(ints = { 3, 6, 9 })
	void largePartsArriveAlsoIfARankIsLate(int worldSize) throws Exception {
		int part = 500_001;
		try (SimulatedWorld world = world(worldSize, "all-to-all=pairwise")) {
			RankThreads.run(worldSize, LIMIT, (rank) -> {
				byte[] send = new byte[worldSize * part];
				byte[] receive = new byte[worldSize * part];
				for (int peer = 0; peer < worldSize; peer++) {
					Arrays.fill(send, peer * part, (peer + 1) * part, (byte) (rank * worldSize + peer));
				}
				if (rank == worldSize - 1) {
					Thread.sleep(100);
				}
				world.group(rank).allToAll(MemorySegment.ofArray(send), MemorySegment.ofArray(receive), DataType.INT8);
				for (int peer = 0; peer < worldSize; peer++) {
					byte[] expected = new byte[part];
					Arrays.fill(expected, (byte) (peer * worldSize + rank));
					assertThat(Arrays.mismatch(receive, peer * part, (peer + 1) * part, expected, 0, part))
						.isEqualTo(-1);
				}
				return null;
			});
		}
	}

	@Test
	void randomCallSequencesWithAnyAlgorithmMatchTheReference() throws Exception {
		long seed = Long.getLong("tutti.test.seed", System.nanoTime());
		Random choices = new Random(seed);
		List<String> all = algorithms().toList();
		for (int round = 0; round < CollectivesContract.ROUNDS; round++) {
			int worldSize = 2 + choices.nextInt(9);
			String overrides = all.stream()
				.filter((override) -> choices.nextInt(3) == 0)
				.collect(Collectors.joining(","));
			long roundSeed = choices.nextLong();
			try (SimulatedWorld world = world(worldSize, overrides)) {
				RankThreads.run(worldSize, LIMIT, (rank) -> {
					CollectivesContract.runSequence(world.group(rank), new Random(roundSeed));
					return null;
				});
			}
			catch (Exception | AssertionError ex) {
				throw new AssertionError("failed with -Dtutti.test.seed=" + seed + " in round " + round + " on "
						+ worldSize + " ranks by " + overrides, ex);
			}
		}
	}

	/** Combines two kinds of NaN and zeros of both signs in every order. */
	@ParameterizedTest
	@ValueSource(strings = { "all-reduce=ring", "all-reduce=recursive-doubling", "all-reduce=halving-doubling" })
	void resultsAreBitIdenticalOnEveryRankAlsoForNaNAndZero(String override) throws Exception {
		for (int worldSize : WORLD_SIZES) {
			for (ReduceOp op : List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.AVERAGE)) {
				List<int[]> byRank = reduceOddities(worldSize, override, op);
				for (int[] bits : byRank) {
					assertThat(Arrays.equals(bits, byRank.getFirst())).as("%s on %s ranks", op, worldSize).isTrue();
				}
				int[] again = reduceOddities(worldSize, override, op).getFirst();
				assertThat(Arrays.equals(numbers(again), numbers(byRank.getFirst())))
					.as("%s on %s ranks, again", op, worldSize)
					.isTrue();
			}
		}
	}

	/** The bit pattern, with all NaNs mapped to one. */
	private static int[] numbers(int[] bits) {
		return Arrays.stream(bits).map((value) -> Float.floatToIntBits(Float.intBitsToFloat(value))).toArray();
	}

	private static List<int[]> reduceOddities(int worldSize, String override, ReduceOp op) throws Exception {
		try (SimulatedWorld world = world(worldSize, override)) {
			return RankThreads.run(worldSize, LIMIT, (rank) -> {
				float[] oddities = { Float.intBitsToFloat(0x7fc00001), Float.intBitsToFloat(0x7fc00002), 0f, -0f, 1e30f,
						-1e30f, 1.1f };
				Random random = new Random(rank);
				float[] values = new float[3000];
				for (int i = 0; i < values.length; i++) {
					values[i] = oddities[random.nextInt(oddities.length)];
				}
				world.group(rank).allReduce(values, op);
				int[] bits = new int[values.length];
				for (int i = 0; i < bits.length; i++) {
					bits[i] = Float.floatToRawIntBits(values[i]);
				}
				return bits;
			});
		}
	}

	@Test
	void everyCollectiveWorksOn100Ranks() throws Exception {
		int worldSize = 100;
		try (SimulatedWorld world = new SimulatedWorld(worldSize, Timeouts.DEFAULTS)) {
			RankThreads.run(worldSize, LIMIT, (rank) -> {
				for (Collective collective : Collective.values()) {
					callAt100(world.group(rank), collective, false);
				}
				for (Collective collective : CallSpec.UNEVEN) {
					callAt100(world.group(rank), collective, true);
				}
				return null;
			});
		}
	}

	private static void callAt100(ProcessGroup group, Collective collective, boolean uneven) {
		for (int count : new int[] { 1, 3, 300 }) {
			if (count < 300 || collective == Collective.ALL_REDUCE || collective == Collective.BROADCAST) {
				CollectivesContract.runAndCheck(group,
						new CallSpec(collective, uneven, DataType.INT64, ReduceOp.SUM, 77, count));
			}
		}
	}

}
