package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.ObjLongConsumer;
import java.util.stream.Stream;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.GroupAbortedException;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.DepartureContract.DepartingWorld;
import io.tutti.engine.backend.RankThreads.Outcome;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An interrupt of a thread in a call aborts the group: every rank fails for that reason,
 * and the thread's interrupt status stays set.
 */
@Timeout(90)
class InterruptTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final Timeouts TIMEOUTS = new Timeouts(LIMIT, Duration.ofSeconds(20), LIMIT, Duration.ofSeconds(5),
			LIMIT);

	private static final int WORLD_SIZE = 3;

	/** Over TCP this rank opens the connection to rank 0 and accepts that of rank 2. */
	private static final int INTERRUPTED = 1;

	private static final int COUNT = 50_000;

	static Stream<Arguments> collectives() {
		return Stream.of(TestedTransport.values())
			.flatMap((transport) -> Stream.of(Collective.values())
				.map((collective) -> Arguments.of(transport, collective)));
	}

	static Stream<Arguments> messages() {
		return Stream.of(TestedTransport.values())
			.flatMap((transport) -> Stream.of(MessageWait.values()).map((wait) -> Arguments.of(transport, wait)));
	}

	/** A call in which the interrupted rank needs other ranks. */
	private static void call(ProcessGroup group, Collective collective) {
		DataType type = DataType.INT32;
		MemorySegment whole = MemorySegment.ofArray(new int[COUNT * WORLD_SIZE]);
		MemorySegment other = MemorySegment.ofArray(new int[COUNT * WORLD_SIZE]);
		MemorySegment part = MemorySegment.ofArray(new int[COUNT]);
		switch (collective) {
			case ALL_REDUCE -> group.allReduce(whole, type, ReduceOp.SUM);
			case REDUCE -> group.reduce(whole, other, type, ReduceOp.SUM, INTERRUPTED);
			case BROADCAST -> group.broadcast(whole, type, 0);
			case ALL_GATHER -> group.allGather(part, whole, type);
			case REDUCE_SCATTER -> group.reduceScatter(whole, part, type, ReduceOp.SUM);
			case GATHER -> group.gather(part, whole, type, INTERRUPTED);
			case SCATTER -> group.scatter(whole, part, type, 0);
			case ALL_TO_ALL -> group.allToAll(whole, other, type);
			case SCAN, EXCLUSIVE_SCAN ->
				AnyCollective.run(group, collective, whole, other, type, ReduceOp.SUM, 0, Duration.ofSeconds(60));
			case BARRIER -> group.barrier();
		}
	}

	@ParameterizedTest
	@MethodSource("collectives")
	void aCallOnAnInterruptedThreadAbortsTheGroup(TestedTransport transport, Collective collective) throws Exception {
		try (DepartingWorld world = transport.world(WORLD_SIZE, TIMEOUTS)) {
			List<Outcome<Void>> outcomes = interruptedAlone(world, (group) -> call(group, collective),
					ProcessGroup::barrier);
			if (collective == Collective.BARRIER) {
				// The interrupted rank may have entered the barrier of the others.
				assertThat(outcomes.get(INTERRUPTED).failure()).isNotNull();
				requireAllOrNone(world, outcomes, INTERRUPTED);
			}
			else {
				requireAborted(outcomes);
			}
		}
	}

	@ParameterizedTest
	@MethodSource("messages")
	void aMessageOnAnInterruptedThreadAbortsTheGroup(TestedTransport transport, MessageWait wait) throws Exception {
		try (DepartingWorld world = transport.world(WORLD_SIZE, TIMEOUTS)) {
			if (wait != MessageWait.RECEIVE_ASYNC) {
				requireAborted(interruptedAlone(world, (group) -> wait.call(group, 0), ProcessGroup::barrier));
			}
		}
	}

	/** The first call, before any connection is open. */
	private static List<Outcome<Void>> interruptedAlone(DepartingWorld world, GroupCall call, GroupCall others)
			throws Exception {
		CountDownLatch over = new CountDownLatch(1);
		return RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
			if (rank != INTERRUPTED) {
				assertThat(over.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
				others.on(world.group(rank));
				return null;
			}
			try {
				onInterruptedThread(world.group(rank), call);
			}
			finally {
				over.countDown();
			}
			return null;
		});
	}

	@ParameterizedTest
	@MethodSource("collectives")
	void anInterruptDuringACallAbortsTheGroup(TestedTransport transport, Collective collective) throws Exception {
		try (DepartingWorld world = transport.world(WORLD_SIZE, TIMEOUTS)) {
			interruptedLater(world, (group) -> call(group, collective), (group, sequence) -> {
				while (group.lastEntered() < sequence) {
					Thread.onSpinWait();
				}
			});
		}
	}

	@ParameterizedTest
	@MethodSource("messages")
	void anInterruptDuringAMessageAbortsTheGroup(TestedTransport transport, MessageWait wait) throws Exception {
		try (DepartingWorld world = transport.world(WORLD_SIZE, TIMEOUTS)) {
			if (wait != MessageWait.RECEIVE_ASYNC) {
				interruptedLater(world, (group) -> wait.call(group, 0), (group, sequence) -> {
				});
			}
		}
	}

	private static void interruptedLater(DepartingWorld world, GroupCall call, ObjLongConsumer<ProcessGroup> entered)
			throws Exception {
		CountDownLatch over = new CountDownLatch(1);
		requireAborted(RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
			ProcessGroup group = world.group(rank);
			group.barrier();
			if (rank != INTERRUPTED) {
				assertThat(over.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
				group.barrier();
				group.barrier();
				return null;
			}
			Thread caller = Thread.currentThread();
			Thread.ofPlatform().start(() -> {
				entered.accept(group, 1);
				caller.interrupt();
			});
			try {
				call.on(group);
			}
			finally {
				assertThat(Thread.interrupted()).isTrue();
				over.countDown();
			}
			return null;
		}));
	}

	/**
	 * The running call is asynchronous, so that the interrupted thread only waits for its
	 * turn.
	 */
	@ParameterizedTest
	@EnumSource
	void anInterruptWhileACallWaitsForItsTurnAbortsTheGroup(TestedTransport transport) throws Exception {
		try (DepartingWorld world = transport.world(WORLD_SIZE, TIMEOUTS)) {
			CompletableFuture<?>[] ahead = new CompletableFuture<?>[1];
			interruptedLater(world, (group) -> {
				ahead[0] = group.barrierAsync().toFuture();
				group.barrier();
			}, (group, sequence) -> {
				while (group.lastEntered() < sequence) {
					Thread.onSpinWait();
				}
			});
			assertThat(ahead[0].handle((done, failure) -> true)).succeedsWithin(LIMIT);
		}
	}

	/** All ranks form a subgroup or none does, whenever the interrupt is detected. */
	@ParameterizedTest
	@EnumSource
	void aSplitOnAnInterruptedThreadSucceedsOrAbortsOnAllRanks(TestedTransport transport) throws Exception {
		if (transport.splits()) {
			try (DepartingWorld world = transport.world(WORLD_SIZE, TIMEOUTS)) {
				Set<String> differing = ConcurrentHashMap.newKeySet();
				List<Outcome<Void>> outcomes = together(world, (group) -> {
					String part = group.split(0, group.rank()).transport();
					if (!part.equals(group.transport())) {
						differing.add(part + " of " + group.transport());
					}
				});
				requireAllOrNone(world, outcomes, INTERRUPTED);
				// A part of an aborted group may not have attached to the host's memory.
				if (outcomes.stream().allMatch((outcome) -> outcome.failure() == null)) {
					assertThat(differing).isEmpty();
				}
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void anAllocationOnAnInterruptedThreadSucceedsOrAbortsOnAllRanks(TestedTransport transport) throws Exception {
		for (int interrupted = 0; interrupted < WORLD_SIZE; interrupted++) {
			int rank = interrupted;
			try (DepartingWorld world = transport.world(WORLD_SIZE, TIMEOUTS)) {
				requireAllOrNone(world, together(world, rank, (group) -> group.allocate(1 << 16)), rank);
			}
		}
	}

	/** The interrupt status must still be set after the call. */
	private static void onInterruptedThread(ProcessGroup group, GroupCall call) throws Exception {
		Thread.currentThread().interrupt();
		try {
			call.on(group);
		}
		finally {
			assertThat(Thread.interrupted()).isTrue();
		}
	}

	private static List<Outcome<Void>> together(DepartingWorld world, GroupCall call) throws Exception {
		return together(world, INTERRUPTED, call);
	}

	private static List<Outcome<Void>> together(DepartingWorld world, int interrupted, GroupCall call)
			throws Exception {
		return RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
			world.group(rank).barrier();
			if (rank != interrupted) {
				call.on(world.group(rank));
				return null;
			}
			onInterruptedThread(world.group(rank), call);
			return null;
		});
	}

	/**
	 * A rank whose part was done before another rank aborted has returned; its next call
	 * fails.
	 */
	private static void requireAllOrNone(DepartingWorld world, List<Outcome<Void>> outcomes, int interrupted)
			throws Exception {
		if (outcomes.stream().anyMatch((outcome) -> outcome.failure() != null)) {
			List<Outcome<Void>> next = RankThreads.outcomes(WORLD_SIZE, LIMIT, (rank) -> {
				Throwable failure = outcomes.get(rank).failure();
				if (failure == null) {
					world.group(rank).barrier();
				}
				else if (failure instanceof Exception ex) {
					throw ex;
				}
				return null;
			});
			requireAborted(next, interrupted);
		}
	}

	private static void requireAborted(List<Outcome<Void>> outcomes) {
		requireAborted(outcomes, INTERRUPTED);
	}

	private static void requireAborted(List<Outcome<Void>> outcomes, int interrupted) {
		List<Failure> failures = new ArrayList<>();
		for (Outcome<Void> outcome : outcomes) {
			Throwable thrown = (outcome.failure() instanceof CompletionException wrapper) ? wrapper.getCause()
					: outcome.failure();
			assertThat(thrown).isInstanceOf(GroupAbortedException.class);
			failures.add(((CollectiveException) thrown).failure());
		}
		assertThat(failures).allMatch(failures.getFirst()::equals);
		assertThat(failures.getFirst().ranks()).containsExactly(interrupted);
		assertThat(failures.getFirst().detail()).contains("thread was interrupted").doesNotContain("not answered");
		assertThat(outcomes.get(interrupted).failure()).hasCauseInstanceOf(InterruptedException.class);
	}

	/** A rank's operation. */
	@FunctionalInterface
	private interface GroupCall {

		void on(ProcessGroup group) throws Exception;

	}

}
