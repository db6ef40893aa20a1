package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveException;
import io.tutti.CollectiveMismatchException;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.GroupAbortedException;
import io.tutti.GroupState;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.backend.CollectivesContract.World;
import io.tutti.engine.backend.RankThreads.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The contract of subgroups over every transport.
 */
@Timeout(60)
abstract class SplitContract {

	static final Duration LIMIT = Duration.ofSeconds(30);

	abstract World world(int worldSize) throws Exception;

	private static int sum(ProcessGroup group, int value) {
		int[] values = { value };
		group.allReduce(values, ReduceOp.SUM);
		return values[0];
	}

	private static int[] order(ProcessGroup group, int value) {
		int[] all = new int[group.worldSize()];
		group.allGather(new int[] { value }, all);
		return all;
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 5, 8 })
	void ranksOfOneColourFormAGroupInTheOrderOfTheirKeys(int worldSize) throws Exception {
		try (World world = world(worldSize)) {
			RankThreads.run(worldSize, LIMIT, (rank) -> {
				ProcessGroup half = world.group(rank).split(rank % 2, -rank);
				List<Integer> expected = new ArrayList<>();
				for (int other = worldSize - 1; other >= 0; other--) {
					if (other % 2 == rank % 2) {
						expected.add(other);
					}
				}
				assertThat(half.worldSize()).isEqualTo(expected.size());
				assertThat(half.rank()).isEqualTo(expected.indexOf(rank));
				assertThat(half.name()).isEqualTo("world/0." + rank % 2);
				assertThat(order(half, rank)).containsExactly(expected.stream().mapToInt(Integer::intValue).toArray());
				ProcessGroup again = world.group(rank).split(0, 0);
				assertThat(again.name()).isEqualTo("world/1.0");
				assertThat(again.rank()).isEqualTo(rank);
				assertThat(sum(again, 1)).isEqualTo(worldSize);
				return null;
			});
		}
	}

	@Test
	void aNegativeColourIsInNoGroup() throws Exception {
		try (World world = world(3)) {
			RankThreads.run(3, LIMIT, (rank) -> {
				ProcessGroup some = world.group(rank).split((rank == 1) ? -5 : 4, 0);
				if (rank == 1) {
					assertThat(some).isNull();
				}
				else {
					assertThat(sum(some, rank)).isEqualTo(2);
				}
				assertThat(sum(world.group(rank), 1)).isEqualTo(3);
				return null;
			});
		}
	}

	@Test
	void aGroupOfNamedRanksHasThemInTheirOrder() throws Exception {
		try (World world = world(4)) {
			RankThreads.run(4, LIMIT, (rank) -> {
				ProcessGroup some = world.group(rank).subgroup(List.of(3, 0, 2));
				if (rank == 1) {
					assertThat(some).isNull();
					return null;
				}
				assertThat(order(some, rank)).containsExactly(3, 0, 2);
				return null;
			});
		}
	}

	@Test
	void aMismatchedSubgroupFailsOnAllRanksAndTheParentStaysUsable() throws Exception {
		try (World world = world(3)) {
			RankThreads.run(3, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				assertThatThrownBy(() -> group.subgroup((rank == 2) ? List.of(0, 1) : List.of(1, 0)))
					.isInstanceOf(IllegalArgumentException.class)
					.hasMessageStartingWith("rank " + rank + ": all-gather #0 of group world: ")
					.hasMessageContaining(
							"ranks 0 and 2 disagree: their lists of ranks differ; this rank asked for ranks "
									+ ((rank == 2) ? "[0, 1]" : "[1, 0]"));
				assertThatThrownBy(() -> group.subgroup(List.of(0, 0))).isInstanceOf(IllegalArgumentException.class);
				assertThatThrownBy(() -> group.subgroup(List.of(3))).isInstanceOf(IllegalArgumentException.class)
					.hasMessageContaining("0..2");
				assertThatThrownBy(() -> group.subgroup(List.of())).isInstanceOf(IllegalArgumentException.class);
				assertThat(sum(group, 1)).isEqualTo(3);
				return null;
			});
		}
	}

	@Test
	void aSubgroupMaySplitAgain() throws Exception {
		try (World world = world(8)) {
			RankThreads.run(8, LIMIT, (rank) -> {
				ProcessGroup half = world.group(rank).split(rank / 4, rank);
				ProcessGroup pair = half.split(half.rank() / 2, half.rank());
				ProcessGroup single = pair.split(pair.rank(), 0);
				assertThat(order(pair, rank)).containsExactly(rank / 2 * 2, rank / 2 * 2 + 1);
				assertThat(sum(single, rank)).isEqualTo(rank);
				assertThat(pair.name()).isEqualTo("world/0." + rank / 4 + "/0." + rank / 2 % 2);
				int[] mine = { rank };
				int[] theirs = new int[1];
				pair.sendReceive(MemorySegment.ofArray(mine), 1 - pair.rank(), MemorySegment.ofArray(theirs),
						1 - pair.rank(), DataType.INT32, 0);
				assertThat(theirs).containsExactly(rank ^ 1);
				return null;
			});
		}
	}

	@Test
	void groupsRunSideBySide() throws Exception {
		try (World world = world(4)) {
			RankThreads.run(4, LIMIT, (rank) -> {
				ProcessGroup left = world.group(rank).split(0, rank);
				ProcessGroup right = world.group(rank).split(0, -rank);
				int[] one = { 1 };
				int[] two = { 2 };
				ProcessGroup first = (rank % 2 == 0) ? left : right;
				ProcessGroup second = (rank % 2 == 0) ? right : left;
				CompletableFuture<Void> a = first
					.allReduceAsync(MemorySegment.ofArray((rank % 2 == 0) ? one : two), DataType.INT32, ReduceOp.SUM)
					.toFuture();
				CompletableFuture<Void> b = second
					.allReduceAsync(MemorySegment.ofArray((rank % 2 == 0) ? two : one), DataType.INT32, ReduceOp.SUM)
					.toFuture();
				CompletableFuture.allOf(a, b).get(20, TimeUnit.SECONDS);
				assertThat(one).containsExactly(4);
				assertThat(two).containsExactly(8);
				return null;
			});
		}
	}

	@Test
	void aClosedSubgroupLeavesItsParentUsable() throws Exception {
		try (World world = world(3)) {
			RankThreads.run(3, LIMIT, (rank) -> {
				for (int i = 0; i < 5; i++) {
					ProcessGroup all = world.group(rank).split(0, 0);
					assertThat(sum(all, 1)).isEqualTo(3);
					all.close();
					assertThat(all.state()).isEqualTo(GroupState.CLOSED);
					all.abort("it is closed");
					assertThat(all.failure()).as("a verdict that none would give").isNull();
					assertThat(sum(world.group(rank), 1)).isEqualTo(3);
				}
				return null;
			});
		}
	}

	@Test
	void aTimeoutBreaksOnlyItsOwnGroupAndNamesNoRankOutside() throws Exception {
		try (World world = world(4)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(4, LIMIT, (rank) -> {
				ProcessGroup half = world.group(rank).split(rank % 2, rank);
				half.barrier();
				if (rank != 2) {
					half.withTimeout((rank == 0) ? Duration.ofMillis(500) : LIMIT).barrier();
				}
				else {
					while (half.failure() == null) {
						Thread.sleep(1);
					}
				}
				return null;
			});
			assertThat(outcomes.get(0).failure()).isInstanceOf(CollectiveTimeoutException.class)
				.hasMessageContaining("group world/0.0");
			assertThat(((CollectiveException) outcomes.get(0).failure()).failure().ranks()).containsExactly(2);
			assertThat(outcomes.get(1).failure()).isNull();
			assertThat(outcomes.get(3).failure()).isNull();
			RankThreads.run(4, LIMIT, (rank) -> {
				assertThat(sum(world.group(rank), 1)).isEqualTo(4);
				return null;
			});
		}
	}

	@Test
	void aSplitThatARankDoesNotJoinIsNamed() throws Exception {
		try (World world = world(2)) {
			assertThatThrownBy(() -> world.group(0).withTimeout(Duration.ofMillis(200)).split(0, 0))
				.isInstanceOf(CollectiveTimeoutException.class)
				.hasMessageMatching("rank 0: all-gather #0 of group world: .*rank 1.* \\(this rank was in "
						+ "all-gather #0 \"split\" for \\d+ ms\\).*");
		}
	}

	@Test
	void aMismatchBreaksOnlyItsOwnGroup() throws Exception {
		try (World world = world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup both = world.group(rank).split(0, 0);
				assertThatThrownBy(() -> both.allReduce(new int[3 + rank], ReduceOp.SUM))
					.isInstanceOf(CollectiveMismatchException.class);
				assertThat(both.state()).isEqualTo(GroupState.BROKEN);
				assertThat(sum(world.group(rank), 1)).isEqualTo(2);
				return null;
			});
		}
	}

	/** Rank 0 stays up: no lost rank ends the wait of rank 1. */
	@Test
	void anAbortOfTheGroupOfAllRanksEndsTheCallsOfItsSubgroups() throws Exception {
		try (World world = world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup part = world.group(rank).split(0, rank);
				part.barrier();
				if (rank == 0) {
					world.group(0).abort(3, "the disk is full");
				}
				assertThatThrownBy(part::barrier).isInstanceOfSatisfying(GroupAbortedException.class, (ex) -> {
					assertThat(ex).hasMessageContaining("group world").hasMessageContaining("the disk is full");
					assertThat(ex.exitCode()).isEqualTo(3);
				});
				return null;
			});
		}
	}

	/**
	 * Ranks 1 and 2 have done a broadcast among themselves and are gone. Where rank 0
	 * waits for them in its own, it gets the mismatch, long before its deadline.
	 */
	@Test
	void aCallThatDiffersFromTheLastOfRanksThatHaveLeftFails() throws Exception {
		try (World world = world(3)) {
			RankThreads.run(3, LIMIT, (rank) -> {
				ProcessGroup all = world.group(rank).split(0, 0);
				try (all) {
					all.withTimeout(Duration.ofSeconds(30)).broadcast(new int[3], (rank == 0) ? 0 : 1);
				}
				catch (CollectiveMismatchException ex) {
					assertThat(ex).hasMessageContaining("root 0").hasMessageContaining("root 1");
				}
				assertThat(sum(world.group(rank), 1)).isEqualTo(3);
				return null;
			});
		}
	}

	@Test
	void aRankThatHasLeftAGroupIsNotLostToItsParent() throws Exception {
		try (World world = world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup both = world.group(rank).split(0, 0);
				both.barrier();
				if (rank == 0) {
					both.close();
				}
				world.group(rank).barrier();
				if (rank == 1) {
					assertThatThrownBy(() -> both.withTimeout(Duration.ofSeconds(5)).barrier())
						.isInstanceOf(CollectiveException.class)
						.hasMessageContaining("rank 0");
				}
				assertThat(sum(world.group(rank), 1)).isEqualTo(2);
				return null;
			});
		}
	}

}
