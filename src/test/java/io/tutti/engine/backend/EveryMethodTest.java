package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.ExitCode;
import io.tutti.Failure;
import io.tutti.GroupAbortedException;
import io.tutti.ProcessGroup;
import io.tutti.RankOutOfRangeException;
import io.tutti.Work;
import io.tutti.engine.backend.CollectivesContract.World;
import io.tutti.engine.backend.RankThreads.Outcome;
import io.tutti.engine.spi.GroupStateException;
import org.assertj.core.api.SoftAssertions;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The rule of exceptions, for every method of a group: a wrong argument that this rank
 * finds before any communication is named in the message with the rank, the group and the
 * call; every other exception holds rank, number of ranks and group as data.
 */
@Timeout(120)
class EveryMethodTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	static Stream<Arguments> argumentsThatMayNotBeNull() {
		return GroupMethods.calls()
			.stream()
			.flatMap((method) -> IntStream.range(0, method.getParameterCount())
				.filter((index) -> !method.getParameterTypes()[index].isPrimitive())
				.mapToObj((index) -> Arguments.of(method, index)));
	}

	@ParameterizedTest
	@MethodSource("argumentsThatMayNotBeNull")
	void nullIsRefusedWithRankGroupCallAndArgument(Method method, int index) throws Exception {
		try (World world = Worlds.simulated(1)) {
			ProcessGroup group = world.group(0);
			Object[] arguments = GroupMethods.arguments(method);
			arguments[index] = null;
			assertThat(GroupMethods.failure(group, method, arguments)).isInstanceOf(NullPointerException.class)
				.hasMessageMatching("rank 0 of group world: " + GroupMethods.label(method) + ": "
						+ method.getParameters()[index].getName() + "( buffer)? must not be null.*");
			assertThat(group.lastEntered()).isEqualTo(-1);
			group.barrier();
		}
	}

	static Stream<Arguments> ranksAndTags() {
		return GroupMethods.calls()
			.stream()
			.flatMap((method) -> IntStream.range(0, method.getParameterCount())
				.filter((index) -> List.of("root", "peer", "source", "tag")
					.contains(method.getParameters()[index].getName()))
				.mapToObj((index) -> Arguments.of(method, index)));
	}

	@ParameterizedTest
	@MethodSource("ranksAndTags")
	void aNumberOutOfRangeIsRefusedWithRankGroupAndCall(Method method, int index) throws Exception {
		try (World world = Worlds.simulated(1)) {
			ProcessGroup group = world.group(0);
			Object[] arguments = GroupMethods.arguments(method);
			arguments[index] = -7;
			Throwable seen = GroupMethods.failure(group, method, arguments);
			assertThat(seen).isInstanceOf(IllegalArgumentException.class)
				.hasMessageStartingWith("rank 0 of group world: " + GroupMethods.label(method) + ": ")
				.hasMessageContaining("must be in 0..")
				.hasMessageEndingWith("got -7");
			if (seen instanceof RankOutOfRangeException ex) {
				assertThat(ex.rank()).isEqualTo(-7);
				assertThat(ex.worldSize()).isOne();
			}
			assertThat(group.lastEntered()).isEqualTo(-1);
		}
	}

	/** Links through shared memory need two ranks. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SHARED_LINKS")
	void everyCallOnAClosedGroupCarriesRankAndGroup(TestedTransport transport) throws Exception {
		try (World world = transport.world(1, Worlds.TIMEOUTS)) {
			ProcessGroup group = world.group(0);
			group.close();
			SoftAssertions.assertSoftly((each) -> GroupMethods.communicating().forEach((method) -> {
				Throwable seen = failure(group, method);
				each.assertThat(seen).as("%s", method).isInstanceOf(GroupStateException.class);
				if (seen instanceof Failure.Origin origin) {
					each.assertThat(origin.rank()).isZero();
					each.assertThat(origin.worldSize()).isOne();
					each.assertThat(origin.group()).isEqualTo("world");
					each.assertThat(origin.collective())
						.as("%s", method)
						.isEqualTo(GroupMethods.collective(method).orElse(null));
					each.assertThat(seen)
						.hasMessageStartingWith("rank 0: ")
						.hasMessageContaining("group world: ")
						.hasMessageContaining("closed");
				}
			}));
		}
	}

	/** Links through shared memory need two ranks. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SHARED_LINKS")
	void everyCallOnABrokenGroupCarriesItsFailure(TestedTransport transport) throws Exception {
		try (World world = transport.world(1, Worlds.TIMEOUTS)) {
			ProcessGroup group = world.group(0);
			group.abort("for the test");
			SoftAssertions.assertSoftly((each) -> GroupMethods.communicating().forEach((method) -> {
				Throwable seen = failure(group, method);
				each.assertThat(seen).as("%s", method).isInstanceOf(GroupAbortedException.class);
				if (seen instanceof CollectiveException ex) {
					each.assertThat(ex.rank()).isZero();
					each.assertThat(ex.worldSize()).isOne();
					each.assertThat(ex.group()).isEqualTo("world");
					each.assertThat(ex.failure()).isEqualTo(group.failure());
				}
			}));
		}
	}

	private static Throwable failure(ProcessGroup group, Method method) {
		try {
			return GroupMethods.failure(group, method, GroupMethods.arguments(method));
		}
		catch (IllegalAccessException ex) {
			throw new AssertionError(ex);
		}
	}

	@ParameterizedTest
	@EnumSource
	void ranksThatAllocateDifferentSizesLearnWhichRanksDiffer(TestedTransport transport) throws Exception {
		try (World world = transport.world(3, Worlds.TIMEOUTS)) {
			List<Outcome<MemorySegment>> outcomes = RankThreads.outcomes(3, LIMIT,
					(rank) -> world.group(rank).allocate((rank == 2) ? 64 : 32));
			for (int rank = 0; rank < 3; rank++) {
				Throwable seen = outcomes.get(rank).failure();
				assertThat(seen).isInstanceOf(IllegalArgumentException.class)
					.hasMessageStartingWith("rank " + rank + ": all-gather #0 of group world: ")
					.hasMessageContaining("rank 0 passed 32, rank 2 64");
				Failure.Origin origin = (Failure.Origin) seen;
				assertThat(origin.rank()).isEqualTo(rank);
				assertThat(origin.worldSize()).isEqualTo(3);
				assertThat(origin.group()).isEqualTo("world");
				assertThat(origin.peers()).isEqualTo(Stream.of(0, 2).filter((one) -> one != origin.rank()).toList());
				assertThat(ExitCode.of(seen)).isEqualTo(ExitCode.MISMATCH);
			}
			RankThreads.run(3, LIMIT, (rank) -> {
				world.group(rank).barrier();
				return null;
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void aCancelledReceiveCarriesRankPeerAndGroup(TestedTransport transport) throws Exception {
		try (World world = transport.world(2, Worlds.TIMEOUTS)) {
			requireCancelled(world.group(1).receiveAsync(MemorySegment.ofArray(new int[1]), DataType.INT32, 0, 5));
		}
	}

	/** Large enough to wait for its receive. */
	@ParameterizedTest
	@EnumSource
	void soDoesACancelledSend(TestedTransport transport) throws Exception {
		try (World world = transport.world(2, Worlds.TIMEOUTS)) {
			requireCancelled(world.group(1).sendAsync(MemorySegment.ofArray(new int[1 << 18]), DataType.INT32, 0, 5));
		}
	}

	@ParameterizedTest
	@EnumSource
	void aCancelledSendWithoutALimitLeavesTheGroupUsable(TestedTransport transport) throws Exception {
		try (World world = transport.world(2, Worlds.TIMEOUTS)) {
			ProcessGroup patient = world.group(1).withTimeout(ChronoUnit.FOREVER.getDuration());
			requireCancelled(patient.sendAsync(MemorySegment.ofArray(new int[1 << 18]), DataType.INT32, 0, 5));
			RankThreads.run(2, LIMIT, (rank) -> {
				world.group(rank).barrier();
				return null;
			});
		}
	}

	private static void requireCancelled(Work<?> work) {
		assertThat(work.cancel()).isTrue();
		assertThat(work.isDone()).isTrue();
		for (Throwable seen : List.of(catchThrowable(work::await), work.failure(),
				catchThrowable(() -> work.await(LIMIT)))) {
			assertThat(seen).isInstanceOf(CancellationException.class).hasMessageStartingWith("rank 1: group world: ");
			Failure.Origin origin = (Failure.Origin) seen;
			assertThat(origin.rank()).isOne();
			assertThat(origin.worldSize()).isEqualTo(2);
			assertThat(origin.group()).isEqualTo("world");
			assertThat(origin.peers()).containsExactly(0);
		}
		assertThat(work.toFuture()).isCancelled();
	}

	@Test
	void aWrongArgumentInASubgroupIsNamedInItsOwnNumbers() throws Exception {
		try (World world = Worlds.simulated(3)) {
			RankThreads.run(3, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank).split((rank == 0) ? -1 : 0, rank);
				if (group != null) {
					assertThat(catchThrowable(() -> group.broadcast(new int[1], 2))).hasMessage(
							"rank " + (rank - 1) + " of group world/0.0: broadcast: root must be in 0..1, got 2");
					group.close();
					Failure.Origin closed = (Failure.Origin) catchThrowable(group::barrier);
					assertThat(closed.rank()).isEqualTo(rank);
					assertThat(closed.worldSize()).isEqualTo(3);
				}
				return null;
			});
		}
	}

	@Test
	void everyOtherFailureInASubgroupNamesWorldRanks() throws Exception {
		MemorySegment one = MemorySegment.ofArray(new int[1]);
		try (World world = Worlds.simulated(3)) {
			RankThreads.run(3, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank).subgroup(List.of(2, 1));
				if (group == null) {
					return null;
				}
				assertThat(catchThrowable(() -> group.allocate(32 * rank)))
					.hasMessageStartingWith("rank " + rank + ": all-gather #0 of group world/0.0: ")
					.hasMessageContaining("ranks 2 and 1 disagree: rank 2 passed 64, rank 1 32");
				if (rank == 2) {
					group.send(MemorySegment.ofArray(new int[2]), DataType.INT32, 1, 1);
					return null;
				}
				assertThat(catchThrowable(() -> group.receive(one, DataType.INT32, 0, 1))).hasMessageStartingWith(
						"rank 1: group world/0.0: the message from rank 2 with tag 1 is 8 bytes of int32");
				assertThat(catchThrowable(
						() -> group.withTimeout(Duration.ofMillis(20)).receive(one, DataType.INT32, 0, 2)))
					.hasMessageContaining("waiting for rank 2: rank 1's receive from rank 2 with tag 2 (4 bytes");
				Work<?> cancelled = group.receiveAsync(one, DataType.INT32, 0, 3);
				assertThat(cancelled.cancel()).isTrue();
				assertThat(catchThrowable(cancelled::await)).hasMessageStartingWith(
						"rank 1: group world/0.0: the receive from rank 2 with tag 3 (4 bytes of int32) was withdrawn");
				return null;
			});
		}
	}

	@Test
	void ranksThatPassDifferentArgumentsLearnTheAllGather() throws Exception {
		try (World world = Worlds.simulated(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				MemorySegment first = group.allocate(8);
				MemorySegment second = group.allocate(8);
				requireLastAllGather(group, () -> group.allocate(8 + rank));
				requireLastAllGather(group, () -> group.free((rank == 0) ? first : second));
				requireLastAllGather(group, () -> group.subgroup(List.of(rank)));
				return null;
			});
		}
	}

	private static void requireLastAllGather(ProcessGroup group, ThrowingCallable call) {
		Failure.Origin origin = (Failure.Origin) catchThrowable(call);
		assertThat(origin.collective()).isEqualTo(Collective.ALL_GATHER);
		assertThat(origin.sequence()).isEqualTo(group.lastEntered());
	}

}
