package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveException;
import io.tutti.CollectiveMismatchException;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.ExitCode;
import io.tutti.GroupAbortedException;
import io.tutti.GroupState;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.backend.RankThreads.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The contract of a group over every transport.
 */
@Timeout(120)
abstract class ProcessGroupContract extends DifferingCallsContract {

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 4, 5, 7, 8, 13 })
	void noRankLeavesTheBarrierBeforeAllHaveEntered(int worldSize) throws Exception {
		java.util.concurrent.atomic.AtomicInteger come = new java.util.concurrent.atomic.AtomicInteger();
		try (World world = world(worldSize)) {
			RankThreads.run(worldSize, LIMIT, (rank) -> {
				for (int round = 1; round <= 20; round++) {
					come.incrementAndGet();
					world.group(rank).barrier();
					assertThat(come.get()).isGreaterThanOrEqualTo(round * worldSize);
				}
				return null;
			});
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 3, 5 })
	void resultsAreBitIdenticalOnEveryRankAndFromRunToRun(int worldSize) throws Exception {
		List<float[]> first = sumRandom(worldSize);
		List<float[]> second = sumRandom(worldSize);
		for (int rank = 0; rank < worldSize; rank++) {
			assertThat(first.get(rank)).isEqualTo(first.get(0));
			assertThat(second.get(rank)).isEqualTo(first.get(0));
		}
	}

	private List<float[]> sumRandom(int worldSize) throws Exception {
		try (World world = world(worldSize)) {
			return RankThreads.run(worldSize, LIMIT, (rank) -> {
				Random random = new Random(rank);
				float[] values = new float[40_009];
				for (int i = 0; i < values.length; i++) {
					values[i] = (float) random.nextGaussian();
				}
				world.group(rank).allReduce(values, ReduceOp.SUM);
				return values;
			});
		}
	}

	@Test
	void callsCompleteInTheOrderTheyWereIssued() throws Exception {
		try (World world = world(3)) {
			RankThreads.run(3, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				float[][] buffers = new float[20][];
				List<CompletableFuture<Void>> futures = new ArrayList<>();
				for (int i = 0; i < buffers.length; i++) {
					buffers[i] = new float[] { i };
					if (i % 3 == 2) {
						group.allReduce(buffers[i], ReduceOp.SUM);
						for (CompletableFuture<Void> earlier : futures) {
							earlier.get(10, TimeUnit.SECONDS);
						}
					}
					else {
						futures
							.add(group.allReduceAsync(MemorySegment.ofArray(buffers[i]), DataType.FLOAT32, ReduceOp.SUM)
								.toFuture());
					}
				}
				CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new)).get(10, TimeUnit.SECONDS);
				for (int i = 0; i < buffers.length; i++) {
					assertThat(buffers[i][0]).isEqualTo(3f * i);
				}
				return null;
			});
		}
	}

	@Test
	void aTimeoutNamesTheRankThatHasNotArrivedAndBreaksTheGroupForAll() throws Exception {
		try (World world = world(3)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(3, LIMIT, (rank) -> {
				world.group(rank).barrier();
				if (rank == 0) {
					RankThreads.awaitStarted(1, world.group(2));
				}
				if (rank != 1) {
					world.group(rank)
						.withTimeout((rank == 0) ? Duration.ofMillis(500) : LIMIT)
						.allReduce(MemorySegment.ofArray(new float[100]), DataType.FLOAT32, ReduceOp.SUM);
				}
				return null;
			});
			for (int rank : new int[] { 0, 2 }) {
				assertThat(outcomes.get(rank).failure()).isInstanceOf(CollectiveTimeoutException.class);
				assertThat(((CollectiveException) outcomes.get(rank).failure()).failure().ranks()).containsExactly(1);
				assertThat(world.group(rank).state()).isEqualTo(GroupState.BROKEN);
			}
			assertThatThrownBy(() -> world.group(1).barrier()).isInstanceOf(CollectiveTimeoutException.class);
		}
	}

	@Test
	void differentCallsFailOnEveryRankWithBothInTheMessage() throws Exception {
		try (World world = world(2)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				world.group(rank).allReduce(new float[10 + rank], ReduceOp.SUM);
				return null;
			});
			for (Outcome<Void> outcome : outcomes) {
				assertThat(outcome.failure()).isInstanceOf(CollectiveMismatchException.class)
					.hasMessageContaining("count 10")
					.hasMessageContaining("count 11");
			}
		}
	}

	@Test
	void anAbortEndsTheWaitOfARankWithItsReason() throws Exception {
		try (World world = world(3)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(3, LIMIT, (rank) -> {
				if (rank == 2) {
					world.group(rank).abort("the coffee is ready");
					world.group(rank).abort("again");
				}
				world.group(rank).barrier();
				return null;
			});
			for (Outcome<Void> outcome : outcomes) {
				assertThat(outcome.failure()).isInstanceOf(GroupAbortedException.class)
					.hasMessageContaining("the coffee is ready")
					.extracting(ExitCode::of)
					.isEqualTo(ExitCode.ABORTED);
			}
		}
	}

	@Test
	void anAbortWithAnExitCodeGivesItToEveryRank() throws Exception {
		try (World world = world(2)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				if (rank == 1) {
					assertThatIllegalArgumentException().isThrownBy(() -> world.group(rank).abort(256, "too large"))
						.withMessage("rank 1 of group world: abort: exitCode must be in 1..255, got 256");
					world.group(rank).abort(ExitCode.STOPPED_ON_REQUEST, "the node is drained");
				}
				world.group(rank).barrier();
				return null;
			});
			for (Outcome<Void> outcome : outcomes) {
				assertThat(outcome.failure()).isInstanceOf(GroupAbortedException.class)
					.hasMessageContaining("the node is drained")
					.extracting(ExitCode::of)
					.isEqualTo(ExitCode.STOPPED_ON_REQUEST);
			}
		}
	}

	@Test
	void anInterruptAbortsTheGroup() throws Exception {
		try (World world = world(2)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				if (rank == 0) {
					Thread.currentThread().interrupt();
					world.group(rank).barrier();
				}
				else {
					world.group(0).failure();
					while (world.group(1).failure() == null) {
						Thread.onSpinWait();
					}
					world.group(rank).barrier();
				}
				return null;
			});
			for (Outcome<Void> outcome : outcomes) {
				assertThat(outcome.failure()).isInstanceOf(GroupAbortedException.class)
					.hasMessageContaining("interrupted");
			}
		}
	}

	@Test
	void badArgumentsAreRejectedBeforeAnythingIsSent() throws Exception {
		try (World world = world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				assertThatThrownBy(() -> group.broadcast(MemorySegment.ofArray(new int[1]), DataType.INT32, 2))
					.isInstanceOf(IllegalArgumentException.class)
					.hasMessageContaining("0..1");
				assertThatThrownBy(
						() -> group.allReduce(MemorySegment.ofArray(new byte[7]), DataType.FLOAT32, ReduceOp.SUM))
					.isInstanceOf(IllegalArgumentException.class)
					.hasMessageContaining("7 bytes");
				assertThatThrownBy(() -> group.allReduce(MemorySegment.ofArray(new float[1]).asReadOnly(),
						DataType.FLOAT32, ReduceOp.SUM))
					.isInstanceOf(IllegalArgumentException.class)
					.hasMessageContaining("read-only");
				MemorySegment all = MemorySegment.ofArray(new int[4]);
				assertThatThrownBy(
						() -> group.allGather(all.asSlice(4 * (1 - rank), 4), all.asSlice(0, 8), DataType.INT32))
					.isInstanceOf(IllegalArgumentException.class)
					.hasMessageContaining("overlap");
				MemorySegment closed;
				try (Arena arena = Arena.ofConfined()) {
					closed = arena.allocate(ValueLayout.JAVA_FLOAT, 4);
				}
				assertThatThrownBy(() -> group.allReduce(closed, DataType.FLOAT32, ReduceOp.SUM))
					.isInstanceOf(IllegalArgumentException.class)
					.hasMessageContaining("closed");
				assertThatThrownBy(() -> group.withTimeout(Duration.ZERO).barrier())
					.isInstanceOf(IllegalArgumentException.class);
				group.barrier();
				return null;
			});
		}
	}

	@Test
	void aClosedGroupEndsItsOwnWaitingCallAndRejectsNewOnes() throws Exception {
		try (World world = world(2)) {
			ProcessGroup group = world.group(0);
			CompletableFuture<Void> waiting = group.barrierAsync().toFuture();
			group.close();
			group.close();
			assertThat(waiting).failsWithin(LIMIT);
			assertThat(group.state()).isEqualTo(GroupState.CLOSED);
			assertThatThrownBy(group::barrier).isInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
		}
	}

}
