package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.GroupAbortedException;
import io.tutti.GroupState;
import io.tutti.Message;
import io.tutti.OwnThread;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.Work;
import io.tutti.engine.backend.CollectivesContract.World;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Guarantees of asynchronous calls and their futures, over every transport.
 */
@Order(2)
@Timeout(240)
class AsyncCallTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	/** For hundreds of groups on a shared machine. */
	private static final Duration MANY_GROUPS_LIMIT = Duration.ofSeconds(200);

	/** How the ranks of one JVM are connected. */
	enum Connection {

		SIMULATED {
			@Override
			World world(int worldSize) {
				return Worlds.simulated(worldSize);
			}
		},
		TCP {
			@Override
			World world(int worldSize) throws Exception {
				return Worlds.tcp(worldSize);
			}
		},
		SHARED_MEMORY {
			@Override
			World world(int worldSize) throws Exception {
				return Worlds.memory(worldSize);
			}
		};

		abstract World world(int worldSize) throws Exception;

	}

	/** Whatever a caller does to the future of a call affects neither call nor work. */
	private static void requireNothingCompletes(Work<?> call) {
		CompletableFuture<?> future = call.toFuture();
		assertThat(future.cancel(true)).isTrue();
		CompletableFuture<?> other = call.toFuture();
		assertThat(other).isNotDone();
		other.completeExceptionally(new IllegalStateException("from outside"));
		assertThat(call.toFuture().orTimeout(1, TimeUnit.MILLISECONDS)).failsWithin(LIMIT)
			.withThrowableThat()
			.withCauseInstanceOf(TimeoutException.class);
		assertThat(call.await(Duration.ofMillis(1))).isFalse();
		assertThat(call.failure()).isNull();
		assertThat(call.isDone()).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void aCollectivesFutureIsDoneOnlyAfterItsLastWrite(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			float[] values = new float[1 << 20];
			Arrays.fill(values, 1);
			Work<Void> call = world.group(0)
				.allReduceAsync(MemorySegment.ofArray(values), DataType.FLOAT32, ReduceOp.SUM);
			requireNothingCompletes(call);
			float[] others = new float[1 << 20];
			Arrays.fill(others, 2);
			world.group(1).allReduce(others, ReduceOp.SUM);
			assertThat(call.cancel()).isFalse();
			assertThat(call.await(LIMIT)).isTrue();
			assertThat(values).containsOnly(3);
			assertThat(call.isDone()).isTrue();
			assertThat(call.failure()).isNull();
			assertThat(call.toFuture()).isCompleted();
		}
	}

	@ParameterizedTest
	@EnumSource
	void aReceiveIsNotAffectedByCallsOnItsFuture(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			int[] first = new int[1];
			int[] second = new int[1];
			Work<Message> one = world.group(0).receiveAsync(MemorySegment.ofArray(first), DataType.INT32, 1, 5);
			Work<Message> two = world.group(0).receiveAsync(MemorySegment.ofArray(second), DataType.INT32, 1, 5);
			requireNothingCompletes(one);
			world.group(1).send(MemorySegment.ofArray(new int[] { 11 }), DataType.INT32, 0, 5);
			world.group(1).send(MemorySegment.ofArray(new int[] { 22 }), DataType.INT32, 0, 5);
			assertThat(one.await()).isEqualTo(new Message(1, 5, 1));
			two.await();
			assertThat(first).containsExactly(11);
			assertThat(second).containsExactly(22);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aSendsFutureIsDoneOnlyAfterItsMessageIsSent(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			int[] values = new int[1 << 18];
			Arrays.fill(values, 7);
			Work<Void> going = world.group(0).sendAsync(MemorySegment.ofArray(values), DataType.INT32, 1, 5);
			requireNothingCompletes(going);
			int[] got = new int[1 << 18];
			world.group(1).receive(MemorySegment.ofArray(got), DataType.INT32, 0, 5);
			going.await();
			assertThat(got).containsOnly(7);
		}
	}

	@ParameterizedTest
	@EnumSource
	void theTimeLimitOfAViewEndsAnAsynchronousCallOnEveryRank(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			Work<Void> call = world.group(0)
				.withTimeout(Duration.ofMillis(20))
				.withLabel("layer 3")
				.allReduceAsync(MemorySegment.ofArray(new float[100]), DataType.FLOAT32, ReduceOp.SUM);
			assertThatThrownBy(call::await).isInstanceOf(CollectiveTimeoutException.class)
				.hasMessageContaining("all-reduce #0")
				.hasMessageContaining("layer 3");
			assertThat(call.failure()).isInstanceOf(CollectiveTimeoutException.class);
			assertThat(call.toFuture()).isCompletedExceptionally();
			assertThatThrownBy(() -> world.group(1).barrier()).isInstanceOf(CollectiveTimeoutException.class);
		}
	}

	@ParameterizedTest
	@EnumSource
	void awaitAnyReturnsACallThatIsDone(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			Work<Message> never = world.group(0).receiveAsync(MemorySegment.ofArray(new int[1]), DataType.INT32, 1, 6);
			Work<Message> soon = world.group(0).receiveAsync(MemorySegment.ofArray(new int[1]), DataType.INT32, 1, 5);
			assertThat(Work.awaitAny(List.of(never, soon), Duration.ofMillis(1))).isNull();
			world.group(1).send(MemorySegment.ofArray(new int[1]), DataType.INT32, 0, 5);
			assertThat(Work.awaitAny(List.of(never, soon), LIMIT)).isSameAs(soon);
			world.group(1).send(MemorySegment.ofArray(new int[1]), DataType.INT32, 0, 6);
			Work.awaitAll(List.of(never, soon));
			assertThat(never.isDone()).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource
	void anInterruptDuringAwaitAbortsTheGroup(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			Work<Void> call = world.group(0).barrierAsync();
			Thread.currentThread().interrupt();
			assertThatThrownBy(call::await).isInstanceOf(GroupAbortedException.class)
				.hasMessageContaining("interrupted while it waited for barrier #0");
			assertThat(Thread.interrupted()).isTrue();
			// The first may complete: rank 0 had entered the barrier before it was
			// interrupted.
			assertThatThrownBy(() -> {
				world.group(1).barrier();
				world.group(1).barrier();
			}).isInstanceOf(GroupAbortedException.class);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aConfinedBufferIsRejectedBeforeAnythingIsSent(Connection connection) throws Exception {
		try (World world = connection.world(1); Arena arena = Arena.ofConfined()) {
			MemorySegment buffer = arena.allocate(ValueLayout.JAVA_FLOAT, 4);
			assertThatThrownBy(() -> world.group(0).allReduceAsync(buffer, DataType.FLOAT32, ReduceOp.SUM))
				.isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("confined");
			world.group(0).allReduce(buffer, DataType.FLOAT32, ReduceOp.SUM);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aGroupMayBeClosedAsSoonAsAnAsynchronousCallIsDone(Connection connection) throws Exception {
		onGroupsWithin(connection, (connection == Connection.SIMULATED) ? 400 : 100, (group, round) -> {
			int[] value = { (group.rank() == 0) ? round : -1 };
			group.broadcastAsync(MemorySegment.ofArray(value), DataType.INT32, 0).await();
			group.close();
			assertThat(value).containsExactly(round);
		});
	}

	@ParameterizedTest
	@EnumSource
	void aGroupMayBeClosedInAStageThatDependsOnACall(Connection connection) throws Exception {
		onGroupsWithin(connection, 100, (group, round) -> {
			int[] value = { 1 };
			group.allReduceAsync(MemorySegment.ofArray(value), DataType.INT32, ReduceOp.SUM)
				.toFuture()
				.thenRun(group::close)
				.get(20, TimeUnit.SECONDS);
			assertThat(value).containsExactly(4);
			assertThat(group.state()).isEqualTo(GroupState.CLOSED);
		});
	}

	@ParameterizedTest
	@EnumSource
	void aGroupMayBeClosedByAnotherThreadAfterASynchronousCall(Connection connection) throws Exception {
		onGroupsWithin(connection, 50, (group, round) -> {
			int[] value = { 1 };
			group.allReduce(value, ReduceOp.SUM);
			CompletableFuture.runAsync(group::close, OwnThread.EXECUTOR).get(20, TimeUnit.SECONDS);
			assertThat(value).containsExactly(4);
		});
	}

	@ParameterizedTest
	@EnumSource
	void aGroupMayBeClosedAsSoonAsItsMessagesAreDone(Connection connection) throws Exception {
		onGroupsWithin(connection, 50, (group, round) -> {
			int right = (group.rank() + 1) % group.worldSize();
			int left = (group.rank() + group.worldSize() - 1) % group.worldSize();
			int[] sent = new int[(round % 2 == 0) ? 10 : 100_000];
			Arrays.fill(sent, round + group.rank());
			int[] received = new int[sent.length];
			Work<Message> coming = group.receiveAsync(MemorySegment.ofArray(received), DataType.INT32, left, 3);
			group.sendAsync(MemorySegment.ofArray(sent), DataType.INT32, right, 3).await();
			coming.await();
			group.close();
			assertThat(received).containsOnly(round + left);
		});
	}

	@ParameterizedTest
	@EnumSource
	void aCloseDuringCallsAndMessagesIsTheCauseOfAllOnEveryRank(Connection connection) throws Exception {
		for (int round = 0; round < 10; round++) {
			try (World world = connection.world(2)) {
				ProcessGroup closing = world.group(0);
				List<CompletableFuture<?>> calls = new ArrayList<>();
				closing.receiveAsync(MemorySegment.ofArray(new int[1]), DataType.INT32, 1, 3);
				for (int i = 0; i < 3; i++) {
					calls.add(closing.allReduceAsync(MemorySegment.ofArray(new int[1]), DataType.INT32, ReduceOp.SUM)
						.toFuture());
				}
				closing.close();
				assertThat(calls).allSatisfy((call) -> assertThat(call).failsWithin(LIMIT)
					.withThrowableThat()
					.withCauseInstanceOf(GroupAbortedException.class)
					.withMessageContaining("this rank closed the group during a call"));
				// Until the verdict arrives, a call may complete with what the other rank
				// has sent.
				Awaitility.await().atMost(LIMIT).until(() -> world.group(1).state() == GroupState.BROKEN);
				assertThatThrownBy(() -> world.group(1).allReduce(new int[1], ReduceOp.SUM))
					.isInstanceOf(GroupAbortedException.class)
					.hasMessageContaining("this rank closed the group during a call");
			}
		}
	}

	/** A rank's use of a group that is formed for it. */
	private interface Use {

		void of(ProcessGroup group, int round) throws Exception;

	}

	private static void onGroupsWithin(Connection connection, int rounds, Use use) throws Exception {
		try (World world = connection.world(4)) {
			RankThreads.run(4, MANY_GROUPS_LIMIT, (rank) -> {
				try {
					for (int round = 0; round < rounds; round++) {
						use.of(world.group(rank).split(0, 0), round);
					}
					return null;
				}
				catch (Exception | AssertionError ex) {
					world.group(rank).abort("rank " + rank + " failed: " + ex);
					throw ex;
				}
			});
		}
	}

}
