package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.tutti.DataType;
import io.tutti.GroupAbortedException;
import io.tutti.GroupState;
import io.tutti.Message;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.backend.CollectivesContract.World;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Guarantees of asynchronous calls and their futures, over every transport.
 */
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

	private static void requireNothingCompletes(CompletableFuture<?> call) {
		assertThat(call.cancel(true)).isFalse();
		assertThat(call.complete(null)).isFalse();
		assertThat(call.completeExceptionally(new IllegalStateException("from outside"))).isFalse();
		assertThatThrownBy(() -> call.obtrudeValue(null)).isInstanceOf(UnsupportedOperationException.class);
		assertThatThrownBy(() -> call.obtrudeException(new IllegalStateException("from outside")))
			.isInstanceOf(UnsupportedOperationException.class);
		assertThatThrownBy(() -> call.completeAsync(() -> null)).isInstanceOf(UnsupportedOperationException.class);
		assertThatThrownBy(() -> call.completeAsync(() -> null, Runnable::run))
			.isInstanceOf(UnsupportedOperationException.class);
		assertThatThrownBy(() -> call.completeOnTimeout(null, 1, TimeUnit.NANOSECONDS))
			.isInstanceOf(UnsupportedOperationException.class);
		assertThatThrownBy(() -> call.get(1, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
		assertThat(call.copy().orTimeout(1, TimeUnit.MILLISECONDS)).failsWithin(LIMIT)
			.withThrowableThat()
			.withCauseInstanceOf(TimeoutException.class);
		assertThat(call.thenApply((value) -> value).cancel(true)).isTrue();
		assertThat(call).isNotDone();
	}

	@ParameterizedTest
	@EnumSource
	void aCollectivesFutureIsDoneOnlyAfterItsLastWrite(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			float[] values = new float[1 << 20];
			Arrays.fill(values, 1);
			CompletableFuture<Void> call = world.group(0)
				.allReduceAsync(MemorySegment.ofArray(values), DataType.FLOAT32, ReduceOp.SUM);
			requireNothingCompletes(call);
			float[] others = new float[1 << 20];
			Arrays.fill(others, 2);
			world.group(1).allReduce(others, ReduceOp.SUM);
			assertThat(call).succeedsWithin(LIMIT);
			assertThat(values).containsOnly(3);
			assertThat(call.cancel(true)).isFalse();
			assertThat(call.isCancelled()).isFalse();
		}
	}

	@ParameterizedTest
	@EnumSource
	void aReceiveIsNotAffectedByCallsOnItsFuture(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			int[] first = new int[1];
			int[] second = new int[1];
			CompletableFuture<Message> one = world.group(0)
				.receiveAsync(MemorySegment.ofArray(first), DataType.INT32, 1, 5);
			CompletableFuture<Message> two = world.group(0)
				.receiveAsync(MemorySegment.ofArray(second), DataType.INT32, 1, 5);
			requireNothingCompletes(one);
			world.group(1).send(MemorySegment.ofArray(new int[] { 11 }), DataType.INT32, 0, 5);
			world.group(1).send(MemorySegment.ofArray(new int[] { 22 }), DataType.INT32, 0, 5);
			assertThat(one).succeedsWithin(LIMIT).isEqualTo(new Message(1, 5, 1));
			assertThat(two).succeedsWithin(LIMIT);
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
			CompletableFuture<Void> going = world.group(0)
				.sendAsync(MemorySegment.ofArray(values), DataType.INT32, 1, 5);
			requireNothingCompletes(going);
			int[] got = new int[1 << 18];
			world.group(1).receive(MemorySegment.ofArray(got), DataType.INT32, 0, 5);
			assertThat(going).succeedsWithin(LIMIT);
			assertThat(got).containsOnly(7);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aCallersTimeoutEndsTheCallOnEveryRankBeforeTheFutureIsDone(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			CompletableFuture<Void> call = world.group(0)
				.allReduceAsync(MemorySegment.ofArray(new float[100]), DataType.FLOAT32, ReduceOp.SUM);
			assertThat(call.orTimeout(20, TimeUnit.MILLISECONDS)).isSameAs(call);
			assertThat(call).failsWithin(LIMIT)
				.withThrowableThat()
				.withCauseInstanceOf(GroupAbortedException.class)
				.withMessageContaining("all-reduce #0")
				.withMessageContaining("orTimeout of 20 MILLISECONDS");
			assertThatThrownBy(() -> world.group(1).barrier()).isInstanceOf(GroupAbortedException.class)
				.hasMessageContaining("by rank 0")
				.hasMessageContaining("orTimeout");
		}
	}

	@ParameterizedTest
	@EnumSource
	void aCallersTimeoutThatDoesNotExpireHasNoEffect(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			CompletableFuture<Message> coming = world.group(0)
				.receiveAsync(MemorySegment.ofArray(new int[1]), DataType.INT32, 1, 5)
				.orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS);
			world.group(1).send(MemorySegment.ofArray(new int[1]), DataType.INT32, 0, 5);
			assertThat(coming).succeedsWithin(LIMIT);
			assertThat(world.group(0).state()).isEqualTo(GroupState.READY);
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
		onGroupsWithin(connection, 400, (group, round) -> {
			int[] value = { (group.rank() == 0) ? round : -1 };
			group.broadcastAsync(MemorySegment.ofArray(value), DataType.INT32, 0).get(20, TimeUnit.SECONDS);
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
			CompletableFuture.runAsync(group::close).get(20, TimeUnit.SECONDS);
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
			CompletableFuture<Message> coming = group.receiveAsync(MemorySegment.ofArray(received), DataType.INT32,
					left, 3);
			group.sendAsync(MemorySegment.ofArray(sent), DataType.INT32, right, 3).get(20, TimeUnit.SECONDS);
			coming.get(20, TimeUnit.SECONDS);
			group.close();
			assertThat(received).containsOnly(round + left);
		});
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
