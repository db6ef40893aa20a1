package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.tutti.CollectiveException;
import io.tutti.CollectiveMismatchException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.GroupState;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.backend.RankThreads.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Ranks that make different calls get a mismatch over every transport, also if they would
 * never exchange a byte. Ranks that are only late do not.
 */
@Timeout(120)
abstract class DifferingCallsContract extends CollectivesContract {

	/** The guarantee is 1 s; an oversubscribed machine may need longer. */
	private static final Duration TOLD_WITHIN = Duration.ofSeconds(5);

	/** Longer than a call waits before it is compared with other ranks' calls. */
	private static final Duration LATE = Duration.ofMillis(300);

	private static void gather(ProcessGroup group, int root) {
		int[] all = new int[3 * ((group.rank() == root) ? group.worldSize() : 0)];
		group.gather(MemorySegment.ofArray(new int[3]), MemorySegment.ofArray(all), DataType.INT32, root);
	}

	private static void scatter(ProcessGroup group, int root) {
		int[] all = new int[3 * ((group.rank() == root) ? group.worldSize() : 0)];
		group.scatter(MemorySegment.ofArray(all), MemorySegment.ofArray(new int[3]), DataType.INT32, root);
	}

	private static void broadcast(ProcessGroup group, int root) {
		group.broadcast(MemorySegment.ofArray(new int[3]), DataType.INT32, root);
	}

	private static void reduce(ProcessGroup group, int root) {
		group.reduce(MemorySegment.ofArray(new int[3]), MemorySegment.ofArray(new int[3]), DataType.INT32, ReduceOp.MAX,
				root);
	}

	private static void pause() throws InterruptedException {
		assertThat(new CountDownLatch(1).await(LATE.toMillis(), TimeUnit.MILLISECONDS)).isFalse();
	}

	private static void allGather(ProcessGroup group, int count) {
		group.allGather(MemorySegment.ofArray(new int[count]),
				MemorySegment.ofArray(new int[count * group.worldSize()]), DataType.INT32);
	}

	static Stream<Arguments> pairs() {
		Side split = (group) -> group.split(0, 0);
		Side subgroup = (group) -> group.subgroup(List.of(0, 1));
		Side allocate = (group) -> group.allocate(0);
		Side free = (group) -> group.free(MemorySegment.NULL);
		Side threeWords = (group) -> allGather(group, 3);
		Side gather = (group) -> gather(group, 0);
		Side scatter = (group) -> scatter(group, 0);
		Side broadcast = (group) -> broadcast(group, 0);
		Side otherBroadcast = (group) -> broadcast(group, 1);
		return Stream.of(Arguments.of("gather", gather, "scatter", scatter),
				Arguments.of("gather", gather, "broadcast", broadcast),
				Arguments.of("reduce", (Side) (group) -> reduce(group, 0), "broadcast", broadcast),
				Arguments.of("barrier", (Side) ProcessGroup::barrier, "broadcast", broadcast),
				Arguments.of("split", split, "all-gather", threeWords),
				Arguments.of("all-gather", threeWords, "subgroup", subgroup),
				Arguments.of("split", split, "subgroup", subgroup), Arguments.of("allocate", allocate, "free", free),
				Arguments.of("broadcast #1 (count 3, int32, root 1)", otherBroadcast,
						"broadcast #1 (count 3, int32, root 0)", broadcast));
	}

	@ParameterizedTest(name = "{0} here, {2} there")
	@MethodSource("pairs")
	void aMismatchOfTwoRanksNamesBothCalls(String here, Side hereCall, String there, Side thereCall) throws Exception {
		try (World world = world(2)) {
			requireMismatch(world, 2, here, there, (group) -> ((group.rank() == 0) ? hereCall : thereCall).call(group));
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 3, 4, 5 })
	void aMismatchOfTwoSetsOfRanksNamesBothCalls(int worldSize) throws Exception {
		try (World world = world(worldSize)) {
			requireMismatch(world, worldSize, "gather", "scatter", (group) -> {
				if (group.rank() % 2 == 0) {
					gather(group, 0);
				}
				else {
					scatter(group, 0);
				}
			});
		}
	}

	/**
	 * Neither rank has read the other's data in the mismatched call. Rank 1 detects the
	 * mismatch in the next barrier, long before rank 0 enters it.
	 */
	@Test
	void aMismatchOfReturnedCallsNamesThoseAndNotTheCurrentOnes() throws Exception {
		try (World world = world(2)) {
			requireMismatch(world, 2, "broadcast #1", "gather #1", (group) -> {
				if (group.rank() == 0) {
					broadcast(group, 0);
					pause();
				}
				else {
					gather(group, 0);
				}
			});
		}
	}

	/** A rank whose own part needs no other rank fails in the next barrier. */
	private static void requireMismatch(World world, int worldSize, String oneCall, String otherCall, Side side)
			throws Exception {
		List<Outcome<Void>> outcomes = RankThreads.outcomes(worldSize, LIMIT, (rank) -> {
			world.group(rank).barrier();
			side.call(world.group(rank));
			world.group(rank).barrier();
			return null;
		});
		List<Failure> failures = new ArrayList<>();
		for (Outcome<Void> outcome : outcomes) {
			assertThat(outcome.failure()).isInstanceOf(CollectiveMismatchException.class)
				.hasMessageContaining("called " + oneCall)
				.hasMessageContaining("called " + otherCall);
			failures.add(((CollectiveException) outcome.failure()).failure());
		}
		assertThat(failures).containsOnly(failures.getFirst());
		assertThat(failures.getFirst().sequence()).isEqualTo(1);
		assertThat(failures.getFirst().ranks()).hasSize(2);
		assertThat(failures.getFirst().elapsed()).isLessThan(TOLD_WITHIN);
	}

	/**
	 * Rank 1 waits for rank 2, which has completed its own broadcast at once and makes no
	 * further call.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aMismatchIsDetectedAlthoughTheOtherRanksCallsHaveReturned(boolean othersAreLate) throws Exception {
		try (World world = world(3)) {
			CountDownLatch told = new CountDownLatch(1);
			RankThreads.run(3, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				group.barrier();
				if (rank == 1) {
					assertThatThrownBy(() -> broadcast(group, 2)).isInstanceOf(CollectiveMismatchException.class)
						.hasMessageContaining("rank 1 called broadcast #1 (count 3, int32, root 2)")
						.hasMessageContaining("called broadcast #1 (count 3, int32, root 0)");
					assertThat(group.failure().elapsed()).isLessThan(TOLD_WITHIN);
					told.countDown();
					return null;
				}
				if (othersAreLate) {
					pause();
				}
				// The second late rank may get the mismatch before its call returns.
				assertThatThrownBy(() -> {
					broadcast(group, 0);
					assertThat(told.await(LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
					group.barrier();
				}).isInstanceOf(CollectiveMismatchException.class);
				return null;
			});
		}
	}

	@Test
	void aLateRankCausesNoMismatch() throws Exception {
		try (World world = world(3)) {
			RankThreads.run(3, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				for (int late = 0; late < 3; late++) {
					if (rank == late) {
						pause();
					}
					int[] values = { 1, rank };
					group.allReduce(MemorySegment.ofArray(values), DataType.INT32, ReduceOp.SUM);
					assertThat(values).containsExactly(3, 3);
				}
				assertThat(group.state()).isEqualTo(GroupState.READY);
				return null;
			});
		}
	}

	@Test
	void ranksMayWaitAtDifferentPlacesInTheSameOrder() throws Exception {
		try (World world = world(4)) {
			RankThreads.run(4, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				if (rank == 3) {
					pause();
				}
				for (int value = 1; value <= 100; value++) {
					int[] values = new int[2];
					if (rank == 0) {
						Arrays.fill(values, value);
					}
					group.broadcast(MemorySegment.ofArray(values), DataType.INT32, 0);
					assertThat(values).containsOnly(value);
					if (rank == 1 && value == 50) {
						pause();
					}
				}
				group.barrier();
				gather(group, 0);
				assertThat(group.state()).isEqualTo(GroupState.READY);
				return null;
			});
		}
	}

}
