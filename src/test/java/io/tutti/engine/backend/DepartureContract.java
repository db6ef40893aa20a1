package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.CollectiveMismatchException;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.GroupAbortedException;
import io.tutti.GroupState;
import io.tutti.Message;
import io.tutti.OwnThread;
import io.tutti.PeerLostException;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.Work;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A rank leaves a group in an orderly way before, during and after every call of the
 * other ranks. Calls that need it fail long before their deadline; calls that it has
 * completed succeed. A rank whose own part in a call needs no other rank returns from the
 * call and fails in the next barrier.
 */
@Timeout(90)
abstract class DepartureContract {

	/** A world whose ranks can leave individually. */
	interface DepartingWorld extends CollectivesContract.World {

		/** Leaves the job, as a program does at its end. */
		void leave(int rank);

	}

	private static final Duration LIMIT = Duration.ofSeconds(60);

	/** Deadline of each call. A call that reaches it has waited for a departed rank. */
	private static final Duration DEADLINE = Duration.ofSeconds(50);

	private static final Timeouts TIMEOUTS = new Timeouts(LIMIT, DEADLINE, LIMIT, Duration.ofSeconds(5), LIMIT);

	private static final int WORLD_SIZE = 4;

	/** A middle rank, since over TCP the higher rank opens the connection. */
	private static final int LEAVING = 1;

	private static final int SMALL = 16;

	private static final int LARGE = 50_000;

	private static final int[] COUNTS = { SMALL, LARGE };

	abstract TestedTransport transport();

	private DepartingWorld world(int worldSize, Timeouts timeouts) throws Exception {
		return transport().world(worldSize, timeouts);
	}

	private static void call(ProcessGroup group, Collective collective, int root, int count) {
		DataType type = DataType.INT32;
		MemorySegment whole = MemorySegment.ofArray(new int[count * WORLD_SIZE]);
		MemorySegment other = MemorySegment.ofArray(new int[count * WORLD_SIZE]);
		MemorySegment part = MemorySegment.ofArray(new int[count]);
		switch (collective) {
			case ALL_REDUCE -> group.allReduce(whole, type, ReduceOp.SUM);
			case REDUCE -> group.reduce(whole, other, type, ReduceOp.SUM, root);
			case BROADCAST -> group.broadcast(whole, type, root);
			case ALL_GATHER -> group.allGather(part, whole, type);
			case REDUCE_SCATTER -> group.reduceScatter(whole, part, type, ReduceOp.SUM);
			case GATHER -> group.gather(part, whole, type, root);
			case SCATTER -> group.scatter(whole, part, type, root);
			case ALL_TO_ALL -> group.allToAll(whole, other, type);
			case SCAN, EXCLUSIVE_SCAN -> AnyCollective.run(group, collective, whole, other, type, ReduceOp.SUM, 0,
					Timeouts.DEFAULTS.collective());
			case BARRIER -> group.barrier();
		}
	}

	/** The root with which other ranks wait for the leaving rank. */
	private static int rootThatNeeds(Collective collective) {
		return switch (collective) {
			case REDUCE, GATHER -> 0;
			case BROADCAST, SCATTER, ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, SCAN, EXCLUSIVE_SCAN,
					BARRIER ->
				LEAVING;
		};
	}

	private static void requireOthersFailed(List<Outcome<Void>> outcomes, int left) {
		assertThat(outcomes.get(left).failure()).isNull();
		for (int rank = 0; rank < outcomes.size(); rank++) {
			if (rank != left) {
				requireNamed(outcomes.get(rank).failure(), left);
			}
		}
	}

	private static void requireNamed(Throwable failure, int left) {
		Throwable cause = (failure instanceof CompletionException) ? failure.getCause() : failure;
		assertThat(cause).isInstanceOf(CollectiveException.class).isNotInstanceOf(CollectiveTimeoutException.class);
		assertThat(((CollectiveException) cause).failure().ranks()).containsExactly(left);
	}

	private static void requireNoneFailed(List<Outcome<Void>> outcomes) {
		assertThat(outcomes).allSatisfy((outcome) -> assertThat(outcome.failure()).isNull());
	}

	/** Lets a rank leave; the other ranks continue after that. */
	private static List<Outcome<Void>> afterLeaving(int leaving, RankThreads.RankTask<Void> leave,
			RankThreads.RankTask<Void> call) throws Exception {
		CountDownLatch left = new CountDownLatch(1);
		return RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
			if (rank == leaving) {
				leave.run(rank);
				left.countDown();
				return null;
			}
			assertThat(left.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
			return call.run(rank);
		});
	}

	@ParameterizedTest
	@EnumSource
	void aRankThatClosedTheGroupBeforeItsFirstCallFailsEveryCollective(Collective collective) throws Exception {
		try (DepartingWorld world = world(WORLD_SIZE, TIMEOUTS)) {
			requireOthersFailed(afterLeaving(LEAVING, (rank) -> {
				world.group(rank).close();
				return null;
			}, (rank) -> {
				call(world.group(rank), collective, rootThatNeeds(collective), LARGE);
				world.group(rank).barrier();
				return null;
			}), LEAVING);
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 3 })
	void aRankThatLeftTheJobBeforeTheFirstCallFailsTheOthers(int leaving) throws Exception {
		try (DepartingWorld world = world(WORLD_SIZE, TIMEOUTS)) {
			requireOthersFailed(afterLeaving(leaving, (rank) -> {
				world.leave(rank);
				return null;
			}, (rank) -> {
				world.group(rank).barrier();
				return null;
			}), leaving);
		}
	}

	@ParameterizedTest
	@CsvSource({ "0, 16", "0, 50000", "1, 16", "1, 50000" })
	void aRankThatLeftTheJobAfterSomeCallsFailsTheOthers(int leaving, int count) throws Exception {
		try (DepartingWorld world = world(WORLD_SIZE, TIMEOUTS)) {
			requireOthersFailed(RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
				for (int i = 0; i < 7; i++) {
					call(world.group(rank), Collective.ALL_REDUCE, 0, count);
				}
				if (rank == leaving) {
					world.leave(rank);
					return null;
				}
				call(world.group(rank), Collective.ALL_REDUCE, 0, count);
				return null;
			}), leaving);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aRankThatClosesTheGroupFailsEveryCollectiveThatWaitsForIt(Collective collective) throws Exception {
		for (int count : COUNTS) {
			try (DepartingWorld world = world(WORLD_SIZE, TIMEOUTS)) {
				requireOthersFailed(RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
					call(world.group(rank), Collective.ALL_REDUCE, 0, count);
					if (rank == LEAVING) {
						for (int other = 0; other < WORLD_SIZE; other++) {
							while (other != LEAVING && world.group(other).lastEntered() < 1) {
								Thread.onSpinWait();
							}
						}
						world.group(rank).close();
						return null;
					}
					call(world.group(rank), collective, rootThatNeeds(collective), count);
					world.group(rank).barrier();
					return null;
				}), LEAVING);
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void aRankThatLeavesAfterItsLastCollectiveFailsNoRankInThatOne(Collective collective) throws Exception {
		for (int count : COUNTS) {
			for (int root : new int[] { 0, LEAVING }) {
				try (DepartingWorld world = world(WORLD_SIZE, TIMEOUTS)) {
					int last = root;
					requireNoneFailed(RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
						call(world.group(rank), collective, last, count);
						world.leave(rank);
						return null;
					}));
				}
			}
		}
	}

	/**
	 * A rank that waits for no other rank completes the call and leaves before the other
	 * ranks enter it. An earlier call has opened the connections.
	 */
	@ParameterizedTest
	@EnumSource(names = { "REDUCE", "BROADCAST", "GATHER", "SCATTER" })
	void dataSentBeforeADepartureIsReceived(Collective collective) throws Exception {
		int root = (collective == Collective.REDUCE || collective == Collective.GATHER) ? 0 : LEAVING;
		try (DepartingWorld world = world(WORLD_SIZE, TIMEOUTS)) {
			RankThreads.run(WORLD_SIZE, LIMIT, (rank) -> {
				call(world.group(rank), collective, root, SMALL);
				return null;
			});
			requireNoneFailed(afterLeaving(LEAVING, (rank) -> {
				call(world.group(rank), collective, root, SMALL);
				world.leave(rank);
				return null;
			}, (rank) -> {
				call(world.group(rank), collective, root, SMALL);
				return null;
			}));
		}
	}

	/** No rank reads data of the call of another kind, and nobody is left to ask. */
	@ParameterizedTest(name = "rank {0} stays, the others leave {1}")
	@CsvSource({ "0, before", "0, during", "1, before", "1, during" })
	void ranksThatLeaveAfterADifferentCallCauseAMismatch(int staying, String time) throws Exception {
		int root = 1 - staying;
		try (DepartingWorld world = world(3, TIMEOUTS)) {
			CountDownLatch left = new CountDownLatch(2);
			List<Outcome<Void>> outcomes = RankThreads.outcomes(3, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				group.barrier();
				if (rank == staying) {
					if (time.equals("before")) {
						// On several hosts rank 2 waits for its leader, rank 0.
						left.await(1, TimeUnit.SECONDS);
					}
					call(group, Collective.BROADCAST, 2, SMALL);
					return null;
				}
				while (time.equals("during") && world.group(staying).lastEntered() < 1) {
					Thread.sleep(1);
				}
				call(group, Collective.BROADCAST, root, SMALL);
				world.leave(rank);
				left.countDown();
				return null;
			});
			assertThat(outcomes.stream().map(Outcome::failure))
				.allMatch((failure) -> failure == null || failure instanceof CollectiveMismatchException);
			assertThat(outcomes.get(staying).failure()).isInstanceOf(CollectiveMismatchException.class)
				.hasMessageContaining("rank " + staying + " called broadcast #1 (count 64, int32, root 2)")
				.hasMessageContaining("called broadcast #1 (count 64, int32, root " + root);
		}
	}

	@Test
	void leavingASubgroupFailsOnlyTheSubgroup() throws Exception {
		try (DepartingWorld world = world(WORLD_SIZE, TIMEOUTS)) {
			requireNoneFailed(RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
				if (!transport().splits()) {
					return null;
				}
				ProcessGroup part = world.group(rank).split(0, rank);
				if (rank == LEAVING) {
					part.close();
				}
				else {
					requireNamed(failure(part::barrier), LEAVING);
					part.close();
				}
				world.group(rank).barrier();
				assertThat(world.group(rank).state()).isEqualTo(GroupState.READY);
				return null;
			}));
		}
	}

	private static Throwable failure(Runnable call) {
		try {
			call.run();
			return null;
		}
		catch (RuntimeException ex) {
			return ex;
		}
	}

	@Test
	void manySubgroupsClosedAtAboutTheSameTimeFailNoRank() throws Exception {
		try (DepartingWorld world = world(WORLD_SIZE, TIMEOUTS)) {
			requireNoneFailed(RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
				for (int i = 0; i < 30 && transport().splits(); i++) {
					try (ProcessGroup part = world.group(rank).split(0, rank)) {
						call(part, Collective.values()[i % Collective.values().length], i % WORLD_SIZE, SMALL);
					}
				}
				return null;
			}));
		}
	}

	@Test
	void aSplitFailsWithoutARankThatHasLeft() throws Exception {
		try (DepartingWorld world = world(WORLD_SIZE, TIMEOUTS)) {
			requireOthersFailed(afterLeaving(LEAVING, (rank) -> {
				world.leave(rank);
				return null;
			}, (rank) -> {
				world.group(rank).split(0, rank);
				return null;
			}), LEAVING);
		}
	}

	@Test
	void anAllocationFailsWithoutARankThatHasLeft() throws Exception {
		try (DepartingWorld world = world(WORLD_SIZE, TIMEOUTS)) {
			requireOthersFailed(afterLeaving(LEAVING, (rank) -> {
				world.leave(rank);
				return null;
			}, (rank) -> {
				world.group(rank).allocate(1 << 20);
				world.group(rank).barrier();
				return null;
			}), LEAVING);
		}
	}

	@Test
	void departuresAreDetectedOnEngineBuffersToo() throws Exception {
		try (DepartingWorld world = world(WORLD_SIZE, TIMEOUTS)) {
			requireOthersFailed(RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
				MemorySegment buffer = world.group(rank).allocate(4 * LARGE);
				world.group(rank).allReduce(buffer, DataType.INT32, ReduceOp.SUM);
				if (rank == LEAVING) {
					world.leave(rank);
					return null;
				}
				world.group(rank).allReduce(buffer, DataType.INT32, ReduceOp.SUM);
				return null;
			}), LEAVING);
		}
	}

	/**
	 * No rank has sent a message, so there is no connection whose end could reveal the
	 * departure.
	 */
	@ParameterizedTest
	@EnumSource
	void aDepartedRankFailsTheRanksThatWaitForItsMessages(MessageWait wait) throws Exception {
		for (int leaving : new int[] { 0, 1 }) {
			try (DepartingWorld world = world(2, TIMEOUTS)) {
				world.group(leaving).close();
				requireNamed(messages(world.group(1 - leaving), wait, leaving), leaving);
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void aLeavingRankFailsTheRanksThatWaitForItsMessages(MessageWait wait) throws Exception {
		for (boolean connected : new boolean[] { false, true }) {
			try (DepartingWorld world = world(2, TIMEOUTS)) {
				List<Outcome<Void>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
					ProcessGroup group = world.group(rank);
					if (connected) {
						MemorySegment other = MemorySegment.ofArray(new byte[9]);
						group.sendReceive(other, 1 - rank, MemorySegment.ofArray(new byte[9]), 1 - rank, DataType.INT8,
								3);
					}
					group.barrier();
					if (rank == 0) {
						wait.call(group, 1);
					}
					else {
						world.leave(1);
					}
					return null;
				});
				assertThat(outcomes.get(1).failure()).isNull();
				requireNamed(outcomes.get(0).failure(), 1);
			}
		}
	}

	private static Throwable messages(ProcessGroup group, MessageWait wait, int peer) {
		try {
			wait.call(group, peer);
			return null;
		}
		catch (Exception ex) {
			return ex;
		}
	}

	@Test
	void aSmallSendToADepartedRankIsRejected() throws Exception {
		try (DepartingWorld world = world(2, TIMEOUTS)) {
			world.group(1).close();
			MemorySegment small = MemorySegment.ofArray(new byte[9]);
			Throwable failure = null;
			while (failure == null) {
				failure = failure(() -> world.group(0).send(small, DataType.INT8, 1, 0));
			}
			requireNamed(failure, 1);
		}
	}

	@Test
	void messagesThatARankSentBeforeItLeftAreReceived() throws Exception {
		for (int bytes : new int[] { 9, 30_000 }) {
			try (DepartingWorld world = world(2, TIMEOUTS)) {
				CountDownLatch left = new CountDownLatch(1);
				requireNoneFailed(RankThreads.outcomes(2, LIMIT, (rank) -> {
					ProcessGroup group = world.group(rank);
					MemorySegment buffer = MemorySegment.ofArray(new byte[bytes]);
					if (rank == 1) {
						group.send(buffer, DataType.INT8, 0, 5);
						group.send(buffer, DataType.INT8, 0, 6);
						world.leave(1);
						left.countDown();
						return null;
					}
					assertThat(left.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
					assertThat(group.receive(buffer, DataType.INT8, 1, 6)).isEqualTo(bytes);
					assertThat(group.receiveAny(buffer, DataType.INT8, Message.ANY_SOURCE, Message.ANY_TAG))
						.isEqualTo(new Message(1, 5, bytes));
					return null;
				}));
			}
		}
	}

	/** A sender may learn of the departure before it learns that its message arrived. */
	@Test
	void aLargeSendSucceedsThoughItsReceiverLeavesAtOnce() throws Exception {
		for (int i = 0; i < 5; i++) {
			try (DepartingWorld world = world(2, TIMEOUTS)) {
				CountDownLatch left = new CountDownLatch(1);
				requireNoneFailed(RankThreads.outcomes(2, LIMIT, (rank) -> {
					ProcessGroup group = world.group(rank);
					MemorySegment buffer = Arena.ofAuto().allocate(300_000, 8);
					if (rank == 1) {
						group.send(buffer.asSlice(0, 9), DataType.INT8, 0, 5);
						assertThat(group.receive(buffer, DataType.INT8, 0, 6)).isEqualTo(buffer.byteSize());
						world.leave(1);
						left.countDown();
						return null;
					}
					Work<Void> send = group.sendAsync(buffer, DataType.INT8, 1, 6);
					assertThat(left.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
					send.await();
					assertThat(group.receive(buffer, DataType.INT8, 1, 5)).isEqualTo(9);
					return null;
				}));
			}
		}
	}

	/** A message that a rank has in flight while it closes the group. */
	private enum Unmatched {

		RECEIVE {
			@Override
			Work<?> start(ProcessGroup group, int peer) {
				return group.receiveAsync(MemorySegment.ofArray(new int[1]), DataType.INT32, peer, 3);
			}
		},

		LARGE_SEND {
			@Override
			Work<?> start(ProcessGroup group, int peer) {
				return group.sendAsync(MemorySegment.ofArray(new byte[300_000]), DataType.INT8, peer, 3);
			}
		};

		abstract Work<?> start(ProcessGroup group, int peer);

	}

	@ParameterizedTest
	@EnumSource
	void aCloseDuringAMessageBreaksTheGroupForTheSameReasonOnEveryRank(Unmatched message) throws Exception {
		for (boolean within : transport().splits() ? new boolean[] { false, true } : new boolean[] { false }) {
			try (DepartingWorld world = world(WORLD_SIZE, TIMEOUTS)) {
				List<Failure> failures = RankThreads.run(WORLD_SIZE, LIMIT, (rank) -> {
					ProcessGroup group = within ? world.group(rank).split(0, rank) : world.group(rank);
					if (rank == LEAVING) {
						Work<?> work = message.start(group, 0);
						group.close();
						assertThat(failure(work::await)).isInstanceOf(GroupAbortedException.class);
						assertThat(((CollectiveException) failure(work::await)).failure()).isEqualTo(group.failure());
						return group.failure();
					}
					await().atMost(LIMIT).until(() -> group.state() == GroupState.BROKEN);
					assertThat(failure(group::barrier)).isInstanceOf(GroupAbortedException.class);
					assertThat(world.group(rank).state()).isEqualTo(within ? GroupState.READY : GroupState.BROKEN);
					return group.failure();
				});
				assertThat(failures).allMatch(failures.getFirst()::equals);
				assertThat(failures.getFirst().ranks()).containsExactly(LEAVING);
				assertThat(failures.getFirst().detail()).contains("closed the group during a send or receive");
			}
		}
	}

	/** As an application that ends while it waits for messages. */
	@ParameterizedTest
	@EnumSource
	void aRankThatLeavesTheJobDuringAMessageLeavesInOrder(Unmatched message) throws Exception {
		try (DepartingWorld world = world(WORLD_SIZE, TIMEOUTS)) {
			requireOthersFailed(RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
				Work<?> work = (rank == LEAVING) ? message.start(world.group(rank), 0) : null;
				world.group(rank).barrier();
				if (work != null) {
					world.leave(rank);
					assertThat(failure(work::await)).isInstanceOf(GroupAbortedException.class);
					return null;
				}
				assertThat(failure(world.group(rank)::barrier)).isInstanceOf(PeerLostException.class);
				world.group(rank).barrier();
				return null;
			}), LEAVING);
		}
	}

	/** Rank 0 gives no verdict any more. */
	@Test
	void aCloseDuringAMessageEndsSoonAfterRankZeroHasLeft() throws Exception {
		Timeouts timeouts = new Timeouts(LIMIT, DEADLINE, LIMIT, LIMIT, LIMIT);
		try (DepartingWorld world = world(3, timeouts)) {
			Work<?> work = Unmatched.RECEIVE.start(world.group(1), 2);
			world.leave(0);
			assertThat(CompletableFuture.runAsync(world.group(1)::close, OwnThread.EXECUTOR))
				.succeedsWithin(LIMIT.dividedBy(2));
			assertThat(failure(work::await)).isInstanceOf(GroupAbortedException.class);
		}
	}

	/** The message of a small send that has returned is not in flight. */
	@Test
	void aCloseAfterASmallSendThatNobodyReceivesBreaksNoGroup() throws Exception {
		try (DepartingWorld world = world(2, TIMEOUTS)) {
			world.group(1).send(MemorySegment.ofArray(new byte[9]), DataType.INT8, 0, 3);
			world.group(1).close();
			assertThat(failure(world.group(0)::barrier)).isInstanceOfSatisfying(PeerLostException.class,
					(ex) -> assertThat(ex.failure().ranks()).containsExactly(1));
		}
	}

}
