package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.GroupState;
import io.tutti.Message;
import io.tutti.ProcessGroup;
import io.tutti.RankOutOfRangeException;
import io.tutti.ReduceOp;
import io.tutti.Transfer;
import io.tutti.Work;
import io.tutti.engine.backend.AsyncCallTest.Connection;
import io.tutti.engine.backend.CollectivesContract.World;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * Views of a group, kinds of buffers, allocated memory and the data of exceptions.
 */
@Timeout(120)
class GroupViewTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	@Test
	void aViewSharesEverythingButItsOptions() throws Exception {
		try (World world = Worlds.simulated(1)) {
			ProcessGroup group = world.group(0);
			ProcessGroup view = group.withTimeout(Duration.ofSeconds(3)).withLabel("layer 1");
			view.barrier();
			group.barrier();
			assertThat(view.lastEntered()).isEqualTo(1);
			assertThat(view.timeout()).isEqualTo(Duration.ofSeconds(3));
			assertThat(group.timeout()).isNotEqualTo(Duration.ofSeconds(3));
			assertThat(view.withLabel("").timeout()).isEqualTo(Duration.ofSeconds(3));
			assertThat(group).hasToString("group world of 1 ranks, rank 0, ready, over simulated");
			view.close();
			assertThat(group.state()).isEqualTo(GroupState.CLOSED);
			assertThat(view.state()).isEqualTo(GroupState.CLOSED);
			assertThatThrownBy(group::barrier).isInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
		}
	}

	@Test
	void boundResourcesAreReleasedOnceInReverseOrderWhenTheGroupCloses() throws Exception {
		try (World world = Worlds.simulated(1)) {
			ProcessGroup group = world.group(0);
			List<String> released = new ArrayList<>();
			group.onClose(() -> released.add("first"));
			group.onClose(() -> {
				throw new IllegalStateException("a resource that fails");
			});
			group.withLabel("a view").onClose(() -> released.add("last"));
			group.barrier();
			assertThat(released).isEmpty();
			assertThatThrownBy(group::close).hasMessage("a resource that fails");
			assertThat(released).containsExactly("last", "first");
			group.close();
			group.onClose(() -> released.add("late"));
			assertThat(released).containsExactly("last", "first", "late");
		}
	}

	@Test
	void aGroupOwnsOneResourceOfATypeAndKeyAndReleasesItWhenItCloses() throws Exception {
		try (World world = Worlds.simulated(1)) {
			ProcessGroup group = world.group(0);
			List<String> released = new ArrayList<>();
			StringBuilder one = group.shared(StringBuilder.class, 1, () -> new StringBuilder("one"),
					(text) -> released.add(text.toString()));
			ProcessGroup view = group.withLabel("a view").withTimeout(Duration.ofSeconds(1));
			assertThat(view.shared(StringBuilder.class, 1, StringBuilder::new, (_) -> {
			})).isSameAs(one);
			assertThat(view.shared(StringBuilder.class, 2, StringBuilder::new, (_) -> {
			})).isNotSameAs(one);
			assertThat(view.shared(String.class, 1, () -> "text", (_) -> {
			})).isEqualTo("text");
			assertThat(released).isEmpty();
			group.close();
			assertThat(released).containsExactly("one");
			group.shared(String.class, "late", () -> "late", released::add);
			assertThat(released).containsExactly("one", "late");
		}
	}

	@Test
	void theLabelIsInTheFlightRecorder() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(1, io.tutti.engine.Timeouts.DEFAULTS)) {
			world.group(0).withLabel("gradients").barrier();
			world.group(0).barrier();
			assertThat(world.group(0).recorder().latest(2)).extracting("site").containsExactly("gradients", null);
		}
	}

	@ParameterizedTest
	@EnumSource
	void anExceptionCarriesTheCallAsData(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			ProcessGroup brief = world.group(1).withTimeout(Duration.ofMillis(50));
			CollectiveTimeoutException failure = catchThrowableOfType(CollectiveTimeoutException.class, brief::barrier);
			assertThat(failure.rank()).isEqualTo(1);
			assertThat(failure.worldSize()).isEqualTo(2);
			assertThat(failure.peers()).containsExactly(0);
			assertThat(failure.collective()).hasToString("barrier");
			assertThat(failure.sequence()).isZero();
			assertThat(failure.group()).isEqualTo("world");
			assertThat(failure.exitCode()).isEqualTo(75);
		}
	}

	@Test
	void invalidArgumentsAreNamed() throws Exception {
		try (World world = Worlds.simulated(1)) {
			ProcessGroup group = world.group(0);
			MemorySegment buffer = MemorySegment.ofArray(new float[2]);
			RankOutOfRangeException rank = catchThrowableOfType(RankOutOfRangeException.class,
					() -> group.broadcast(buffer, DataType.FLOAT32, 3));
			assertThat(rank.rank()).isEqualTo(3);
			assertThat(rank.worldSize()).isEqualTo(1);
			assertThatThrownBy(() -> group.broadcast((MemorySegment) null, DataType.FLOAT32, 0))
				.isInstanceOf(NullPointerException.class)
				.hasMessageContaining("buffer must not be null");
			assertThatThrownBy(() -> group.broadcast(buffer, null, 0)).isInstanceOf(NullPointerException.class)
				.hasMessageContaining("type must not be null");
			assertThatThrownBy(() -> group.allReduce(buffer, DataType.FLOAT32, null))
				.isInstanceOf(NullPointerException.class)
				.hasMessageContaining("op must not be null");
			assertThatThrownBy(() -> group.withTimeout(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
			assertThatThrownBy(() -> group.withLabel("x".repeat(201))).isInstanceOf(IllegalArgumentException.class);
			group.barrier();
		}
	}

	@ParameterizedTest
	@EnumSource
	void byteBuffersAreReducedBetweenPositionAndLimit(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				for (boolean direct : new boolean[] { true, false }) {
					ByteBuffer buffer = (direct ? ByteBuffer.allocateDirect(16) : ByteBuffer.allocate(16))
						.order(ByteOrder.nativeOrder());
					buffer.asIntBuffer().put(new int[] { 1, 2, 3, 4 });
					buffer.position(4).limit(12);
					world.group(rank).allReduce(buffer, DataType.INT32, ReduceOp.SUM);
					assertThat(buffer.position()).isEqualTo(4);
					assertThat(new int[] { buffer.getInt(0), buffer.getInt(4), buffer.getInt(8) }).containsExactly(1, 4,
							6);
				}
				return null;
			});
			ByteBuffer foreign = ByteBuffer.allocate(8).order(ByteOrder.BIG_ENDIAN);
			assertThatThrownBy(() -> world.group(0).allReduce(foreign, DataType.INT32, ReduceOp.SUM))
				.isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("nativeOrder");
		}
	}

	@ParameterizedTest
	@EnumSource
	void aFreedBufferInUseIsReleasedLater(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				MemorySegment buffer = group.allocate(4 << 20);
				Pipe pipe = Pipe.open();
				FutureTask<Integer> use = new FutureTask<>(() -> pipe.source().read(buffer.asByteBuffer()));
				Thread user = Thread.ofPlatform().daemon().start(use);
				await().atMost(LIMIT)
					.until(() -> Stream.of(user.getStackTrace()).anyMatch((frame) -> frame.isNativeMethod()));
				assertThatThrownBy(() -> group.free(buffer)).isInstanceOf(IllegalStateException.class)
					.hasMessageContaining("rank " + rank)
					.hasMessageContaining("still uses");
				assertThat(buffer.get(ValueLayout.JAVA_BYTE, 5)).isZero();
				MemorySegment next = group.allocate(4 << 20);
				next.set(ValueLayout.JAVA_INT, 0, 1);
				group.allReduce(next, DataType.INT32, ReduceOp.SUM);
				assertThat(next.get(ValueLayout.JAVA_INT, 0)).isEqualTo(2);
				pipe.sink().write(ByteBuffer.allocate(1));
				assertThat(use.get(20, TimeUnit.SECONDS)).isOne();
				group.free(next);
				assertThat(buffer.scope().isAlive()).isFalse();
				return null;
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void allocatedMemoryIsFreedAndReused(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				for (int round = 0; round < 20; round++) {
					MemorySegment kept = group.allocate(8);
					MemorySegment buffer = group.allocate(4 << 20);
					MemorySegment.copy(new float[] { rank + 1, 5 }, 0, buffer, ValueLayout.JAVA_FLOAT, 0, 2);
					group.allReduce(buffer, DataType.FLOAT32, ReduceOp.SUM);
					assertThat(buffer.get(ValueLayout.JAVA_FLOAT, 0)).isEqualTo(3);
					group.free(buffer);
					assertThatThrownBy(() -> buffer.get(ValueLayout.JAVA_FLOAT, 0))
						.isInstanceOf(IllegalStateException.class);
					kept.set(ValueLayout.JAVA_INT, 0, 2);
					group.allReduce(kept, DataType.INT32, ReduceOp.SUM);
					assertThat(kept.get(ValueLayout.JAVA_INT, 0)).isEqualTo(4);
					group.free(kept);
				}
				assertThatThrownBy(() -> group.free(MemorySegment.ofArray(new byte[1])))
					.isInstanceOf(IllegalArgumentException.class);
				MemorySegment whole = group.allocate(8);
				assertThatThrownBy(() -> group.free(whole.asSlice(0, 4))).isInstanceOf(IllegalArgumentException.class)
					.hasMessageContaining("pass the segment that allocate returned");
				group.free(whole);
				group.barrier();
				return null;
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void differingSizesAreRefusedOnEveryRankAndTheGroupStaysUsable(Connection connection) throws Exception {
		try (World world = connection.world(3)) {
			RankThreads.run(3, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				assertThatThrownBy(() -> group.allocate(100 + rank / 2)).isInstanceOf(IllegalArgumentException.class)
					.hasMessageContaining("rank 2 101");
				MemorySegment first = group.allocate(16);
				MemorySegment second = group.allocate(16);
				assertThatThrownBy(() -> group.free((rank == 1) ? first : second))
					.isInstanceOf(IllegalArgumentException.class)
					.hasMessageContaining("same allocation");
				group.allReduce(second, DataType.INT32, ReduceOp.SUM);
				return null;
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void aBatchOfTransfersMayBeInAnyOrder(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				int peer = 1 - rank;
				int[] large = new int[100_000];
				large[99_999] = rank + 1;
				int[] largeReceived = new int[100_000];
				int[] small = new int[1];
				List<Work<Message>> works = world.group(rank)
					.startAll(List.of(Transfer.send(MemorySegment.ofArray(large), DataType.INT32, peer, 1),
							Transfer.send(MemorySegment.ofArray(new int[] { 40 + rank }), DataType.INT32, peer, 2),
							Transfer.receive(MemorySegment.ofArray(small), DataType.INT32, peer, 2), Transfer
								.receive(MemorySegment.ofArray(largeReceived), DataType.INT32, Message.ANY_SOURCE, 1)));
				Work.awaitAll(works);
				assertThat(largeReceived[99_999]).isEqualTo(peer + 1);
				assertThat(small).containsExactly(40 + peer);
				assertThat(works.get(2).await()).isEqualTo(new Message(peer, 2, 1));
				assertThat(works.get(0).await()).isEqualTo(new Message(peer, 1, 100_000));
				return null;
			});
		}
	}

}
