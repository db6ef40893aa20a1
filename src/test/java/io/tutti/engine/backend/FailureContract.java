package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;

import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.GroupAbortedException;
import io.tutti.GroupState;
import io.tutti.PeerLostException;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A rank is lost, late or aborts, in every collective. A rank whose own part in the call
 * needs no other rank returns from the call and fails in the next barrier.
 */
@Timeout(60)
abstract class FailureContract {

	/** A world whose ranks can be lost. */
	interface MortalWorld extends CollectivesContract.World {

		/** Ends a rank as if its process had died. */
		void kill(int rank);

	}

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final int WORLD_SIZE = 4;

	/**
	 * The failing rank; the root of broadcast and scatter, so that other ranks wait for
	 * it.
	 */
	private static final int FAILING = 2;

	private static final int COUNT = 50_000;

	/**
	 * A short abort timeout for the lost rank itself, whose thread still runs in this
	 * JVM.
	 */
	private static final Timeouts IMPATIENT = new Timeouts(LIMIT, LIMIT, LIMIT, Duration.ofMillis(500), LIMIT);

	abstract MortalWorld world(int worldSize, Timeouts timeouts) throws Exception;

	private static void call(ProcessGroup group, Collective collective, Duration timeout) {
		ProcessGroup limited = group.withTimeout(timeout);
		DataType type = DataType.INT32;
		MemorySegment whole = MemorySegment.ofArray(new int[COUNT * WORLD_SIZE]);
		MemorySegment other = MemorySegment.ofArray(new int[COUNT * WORLD_SIZE]);
		MemorySegment part = MemorySegment.ofArray(new int[COUNT]);
		switch (collective) {
			case ALL_REDUCE -> limited.allReduce(whole, type, ReduceOp.SUM);
			case REDUCE -> limited.reduce(whole, other, type, ReduceOp.SUM, 0);
			case BROADCAST -> limited.broadcast(whole, type, FAILING);
			case ALL_GATHER -> limited.allGather(part, whole, type);
			case REDUCE_SCATTER -> limited.reduceScatter(whole, part, type, ReduceOp.SUM);
			case GATHER -> limited.gather(part, whole, type, 0);
			case SCATTER -> limited.scatter(whole, part, type, FAILING);
			case ALL_TO_ALL -> limited.allToAll(whole, other, type);
			case SCAN -> limited.scan(whole, other, type, ReduceOp.SUM);
			case EXCLUSIVE_SCAN -> limited.exclusiveScan(whole, other, type, ReduceOp.SUM);
			case BARRIER -> limited.barrier();
		}
	}

	@ParameterizedTest
	@EnumSource
	void aLostRankFailsEveryCollectiveByItsName(Collective collective) throws Exception {
		try (MortalWorld world = world(WORLD_SIZE, Timeouts.DEFAULTS)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
				world.group(rank).barrier();
				if (rank == FAILING) {
					world.kill(FAILING);
					return null;
				}
				call(world.group(rank), collective, LIMIT);
				world.group(rank).barrier();
				return null;
			});
			assertThat(outcomes.get(FAILING).failure()).isNull();
			requireOthers(world, outcomes, PeerLostException.class);
		}
	}

	/** An earlier message has opened the connection, so that no rank waits for that. */
	@ParameterizedTest
	@EnumSource
	void aLostRankFailsTheRanksThatWaitForItsMessages(MessageWait wait) throws Exception {
		try (MortalWorld world = world(WORLD_SIZE, Timeouts.DEFAULTS)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				if (rank != FAILING) {
					group.receive(MemorySegment.ofArray(new byte[9]), DataType.INT8, FAILING, 1);
					group.barrier();
					wait.call(group, FAILING);
					return null;
				}
				for (int other = 0; other < WORLD_SIZE; other++) {
					if (other != FAILING) {
						group.send(MemorySegment.ofArray(new byte[9]), DataType.INT8, other, 1);
					}
				}
				group.barrier();
				world.kill(FAILING);
				return null;
			});
			requireOthers(world, outcomes, PeerLostException.class);
		}
	}

	@Test
	void theFailureOfALostRankNamesTheInterruptedCall() throws Exception {
		try (MortalWorld world = world(WORLD_SIZE, Timeouts.DEFAULTS)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
				world.group(rank).barrier();
				if (rank == FAILING) {
					while (world.group((FAILING + 1) % WORLD_SIZE).lastEntered() < 1) {
						Thread.onSpinWait();
					}
					world.kill(FAILING);
					return null;
				}
				world.group(rank).barrier();
				return null;
			});
			Throwable failure = outcomes.get((FAILING + 1) % WORLD_SIZE).failure();
			assertThat(failure).hasMessageMatching(
					".*rank " + FAILING + " lost: .* \\(this rank was in barrier #1 for \\d+ ms\\)\\. .*");
			assertThat(failure).isInstanceOfSatisfying(PeerLostException.class, (lost) -> {
				assertThat(lost.collective()).isEqualTo(Collective.BARRIER);
				assertThat(lost.sequence()).isOne();
				assertThat(lost.group()).isEqualTo("world");
				assertThat(lost.failure().collective()).isNull();
			});
		}
	}

	/**
	 * The other ranks have started their calls before the deadline starts, so that none
	 * of them is missing, too.
	 */
	@ParameterizedTest
	@EnumSource
	void aDeadlineFailsEveryCollectiveAndNamesTheMissingRank(Collective collective) throws Exception {
		// Waits for the missing rank in each collective: as a root, or as the last in a
		// scan.
		int impatient = switch (collective) {
			case SCAN, EXCLUSIVE_SCAN -> WORLD_SIZE - 1;
			default -> 0;
		};
		try (MortalWorld world = world(WORLD_SIZE, Timeouts.DEFAULTS)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
				world.group(rank).barrier();
				if (rank == impatient) {
					RankThreads.awaitStarted(1,
							IntStream.range(0, WORLD_SIZE)
								.filter((other) -> other != FAILING && other != impatient)
								.mapToObj(world::group)
								.toArray(ProcessGroup[]::new));
				}
				if (rank != FAILING) {
					call(world.group(rank), collective, (rank == impatient) ? Duration.ofMillis(200) : LIMIT);
					world.group(rank).barrier();
				}
				return null;
			});
			requireOthers(world, outcomes, CollectiveTimeoutException.class);
			CollectiveException seen = (CollectiveException) outcomes.getFirst().failure();
			assertThat(seen.failure().elapsed()).isBetween(Duration.ofMillis(200), Duration.ofSeconds(10));
			assertThat(seen.failure().collective()).isEqualTo(collective);
		}
	}

	@ParameterizedTest
	@EnumSource
	void anAbortEndsEveryCollectiveOfAWaitingRank(Collective collective) throws Exception {
		try (MortalWorld world = world(WORLD_SIZE, Timeouts.DEFAULTS)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
				world.group(rank).barrier();
				if (rank == FAILING) {
					world.group(rank).abort("enough");
					return null;
				}
				call(world.group(rank), collective, LIMIT);
				world.group(rank).barrier();
				return null;
			});
			requireOthers(world, outcomes, GroupAbortedException.class);
		}
	}

	private static void requireOthers(MortalWorld world, List<Outcome<Void>> outcomes,
			Class<? extends CollectiveException> kind) {
		for (int rank = 0; rank < WORLD_SIZE; rank++) {
			if (rank != FAILING) {
				Throwable failure = outcomes.get(rank).failure();
				Throwable cause = (failure instanceof CompletionException) ? failure.getCause() : failure;
				assertThat(cause).isInstanceOf(kind);
				assertThat(((CollectiveException) cause).failure().ranks()).containsExactly(FAILING);
				assertThat(world.group(rank).state()).isEqualTo(GroupState.BROKEN);
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void aRankLostDuringACollectiveFailsTheCollective(Collective collective) throws Exception {
		try (MortalWorld world = world(WORLD_SIZE, IMPATIENT)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				while (true) {
					if (rank == FAILING && group.lastEntered() == 21) {
						Thread.ofPlatform().start(() -> world.kill(FAILING));
					}
					call(group, collective, LIMIT);
					group.barrier();
				}
			});
			requireOthers(world, outcomes, PeerLostException.class);
		}
	}

}
