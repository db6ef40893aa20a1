package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;

import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.Transfer;
import io.tutti.Work;
import io.tutti.engine.backend.CollectivesContract.World;
import io.tutti.engine.backend.RankThreads.Outcome;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Arguments at the edges: rejected before any data is sent, or ignored where documented.
 */
@Timeout(120)
class GroupArgumentsTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);

	@Test
	void noTransferStartsIfOneIsInvalid() throws Exception {
		try (World world = Worlds.simulated(1)) {
			ProcessGroup group = world.group(0);
			int[] untouched = { 1 };
			int[] received = { 2 };
			assertThatThrownBy(() -> group
				.startAll(List.of(Transfer.receive(MemorySegment.ofArray(untouched), DataType.INT32, 0, 5),
						Transfer.send(MemorySegment.ofArray(received), DataType.INT32, 7, 5))))
				.isInstanceOf(IllegalArgumentException.class);
			group.send(MemorySegment.ofArray(new int[] { 42 }), DataType.INT32, 0, 5);
			assertThat(group.withTimeout(Duration.ofSeconds(5))
				.receive(MemorySegment.ofArray(received), DataType.INT32, 0, 5)).isOne();
			assertThat(untouched).containsExactly(1);
			assertThat(received).containsExactly(42);
		}
	}

	@Test
	void nullIsRefusedByItsName() throws Exception {
		try (World world = Worlds.simulated(1)) {
			ProcessGroup group = world.group(0);
			MemorySegment buffer = MemorySegment.ofArray(new int[1]);
			Map<String, ThrowingCallable> calls = Map.ofEntries(
					entry("rank 0 of group world: all-reduce: values must not be null",
							() -> group.allReduce((float[]) null, ReduceOp.SUM)),
					entry("rank 0 of group world: all-gather: receive must not be null",
							() -> group.allGather(new int[1], null)),
					entry("rank 0 of group world: all-reduce: buffer must not be null",
							() -> group.allReduce((ByteBuffer) null, DataType.INT32, ReduceOp.SUM)),
					entry("rank 0 of group world: send: buffer must not be null",
							() -> group.send(null, DataType.INT32, 0, 0)),
					entry("rank 0 of group world: receive: buffer must not be null",
							() -> group.receive(null, DataType.INT32, 0, 0)),
					entry("rank 0 of group world: send: type must not be null", () -> group.send(buffer, null, 0, 0)),
					entry("rank 0 of group world: abort: reason must not be null", () -> group.abort(null)),
					entry("rank 0 of group world: all-reduce: buffers must not be null",
							() -> group.allReduce((List<MemorySegment>) null, DataType.INT32, ReduceOp.SUM)),
					entry("rank 0 of group world: all-reduce: buffers[1]: buffer must not be null",
							() -> group.allReduce(Arrays.asList(buffer, null), DataType.INT32, ReduceOp.SUM)),
					entry("rank 0 of group world: all-gather: counts must not be null",
							() -> group.allGather(buffer, buffer, null, DataType.INT32)),
					entry("rank 0 of group world: withTimeout: timeout must not be null",
							() -> group.withTimeout(null)),
					entry("rank 0 of group world: withLabel: label must not be null; pass an empty one for none",
							() -> group.withLabel(null)),
					entry("rank 0 of group world: subgroup: ranks must not be null", () -> group.subgroup(null)),
					entry("rank 0 of group world: startAll: transfers must not be null", () -> group.startAll(null)),
					entry("rank 0 of group world: startAll: a transfer must not be null",
							() -> group.startAll(Collections.singletonList(null))),
					entry("rank 0 of group world: subgroup: a rank must not be null",
							() -> group.subgroup(Collections.singletonList(null))),
					entry("limit must not be null", () -> Work.awaitAny(List.of(), null)),
					entry("works must not be null", () -> Work.awaitAll(null)),
					entry("a work must not be null", () -> Work.awaitAll(Collections.singletonList(null))),
					entry("rank 0 of group world: onClose: action must not be null", () -> group.onClose(null)));
			calls.forEach((message, call) -> assertThatThrownBy(call).isInstanceOf(NullPointerException.class)
				.hasMessage(message));
			assertThatThrownBy(() -> group.allReduceAsync((MemorySegment) null, DataType.INT32, ReduceOp.SUM))
				.hasMessage("rank 0 of group world: all-reduce: buffer must not be null");
			group.barrier();
		}
	}

	@ParameterizedTest
	@EnumSource
	void theRootOfABroadcastMayHaveAReadOnlyBuffer(TestedTransport transport) throws Exception {
		try (World world = transport.world(2, Worlds.TIMEOUTS); Arena arena = Arena.ofShared()) {
			RankThreads.run(2, LIMIT, (rank) -> {
				for (MemorySegment own : List.of(MemorySegment.ofArray(new int[] { 7 - rank, 8 - rank }),
						arena.allocateFrom(ValueLayout.JAVA_INT, 7 - rank, 8 - rank))) {
					MemorySegment buffer = (rank == 0) ? own.asReadOnly() : own;
					world.group(rank).broadcast(buffer, DataType.INT32, 0);
					MemorySegment other = MemorySegment.ofArray(new int[] { 5 - rank });
					world.group(rank)
						.broadcastAsync(List.of(buffer, (rank == 0) ? other.asReadOnly() : other), DataType.INT32, 0)
						.await();
					assertThat(own.toArray(ValueLayout.JAVA_INT)).containsExactly(7, 8);
					assertThatThrownBy(
							() -> world.group(rank).allReduce(own.asReadOnly(), DataType.INT32, ReduceOp.SUM))
						.hasMessage("rank " + rank + " of group world: all-reduce: buffer is read-only");
					assertThatThrownBy(() -> world.group(rank).broadcast(own.asReadOnly(), DataType.INT32, 1 - rank))
						.hasMessage("rank " + rank + " of group world: broadcast: buffer is read-only");
				}
				return null;
			});
		}
	}

	@Test
	void anAsynchronousMessageRefusesAConfinedArena() throws Exception {
		try (World world = Worlds.simulated(1); Arena arena = Arena.ofConfined()) {
			ProcessGroup group = world.group(0);
			MemorySegment buffer = arena.allocate(4);
			assertThatThrownBy(() -> group.receiveAsync(buffer, DataType.INT32, 0, 1))
				.isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("confined");
			assertThatThrownBy(() -> group.sendAsync(buffer, DataType.INT32, 0, 1))
				.isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("confined");
			assertThatThrownBy(
					() -> group.startAll(List.of(Transfer.receive(buffer, DataType.INT32, 0, Message.ANY_TAG))))
				.isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("confined");
		}
	}

	@Test
	void arraysAndByteBuffersAreIgnoredExceptOnTheRoot() throws Exception {
		ByteBuffer foreign = ByteBuffer.allocate(4)
			.order((ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN) ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
		try (World world = Worlds.simulated(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				boolean root = rank == 0;
				int[] sum = root ? new int[1] : null;
				group.reduce(new int[] { rank + 1 }, sum, ReduceOp.SUM, 0);
				int[] all = root ? new int[2] : null;
				group.gather(new int[] { rank + 1 }, all, 0);
				int[] own = new int[1];
				group.scatter(all, own, 0);
				if (root) {
					assertThat(sum).containsExactly(3);
					assertThat(all).containsExactly(1, 2);
				}
				assertThat(own).containsExactly(rank + 1);
				ByteBuffer mine = ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(0, rank + 1);
				ByteBuffer total = root ? ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()) : foreign;
				group.reduce(mine, total, DataType.INT32, ReduceOp.SUM, 0);
				if (root) {
					assertThat(total.getInt(0)).isEqualTo(3);
				}
				return null;
			});
		}
	}

	@Test
	@SuppressWarnings("restricted")
	void countsThatOverflowAreInvalidArguments() throws Exception {
		try (World world = Worlds.simulated(2)) {
			ProcessGroup group = world.group(0);
			MemorySegment buffer = MemorySegment.ofArray(new float[2]);
			for (long[] counts : new long[][] { { Long.MAX_VALUE, 1 }, { Long.MAX_VALUE / 2, 0 } }) {
				assertThatThrownBy(() -> group.reduceScatter(buffer, buffer, counts, DataType.FLOAT32, ReduceOp.SUM))
					.isInstanceOf(IllegalArgumentException.class)
					.hasMessageContaining("count");
			}
			MemorySegment endless = MemorySegment.NULL.reinterpret(Long.MAX_VALUE - 3);
			assertThatThrownBy(() -> group.allGather(endless, buffer, DataType.FLOAT32))
				.isInstanceOf(IllegalArgumentException.class);
		}
	}

	@Test
	void theArgumentsOfAnEmptyListAreChecked() throws Exception {
		try (World world = Worlds.simulated(2)) {
			ProcessGroup group = world.group(0);
			assertThatThrownBy(() -> group.broadcast(List.of(), DataType.FLOAT32, 99))
				.isInstanceOf(IllegalArgumentException.class);
			assertThatThrownBy(() -> group.broadcast(List.of(), null, 0)).isInstanceOf(NullPointerException.class);
			assertThatThrownBy(() -> group.allReduceAsync(List.of(), DataType.FLOAT32, ReduceOp.BITWISE_AND))
				.isInstanceOf(IllegalArgumentException.class);
			assertThat(group.lastEntered()).isEqualTo(-1);
			RankThreads.run(2, LIMIT, (rank) -> {
				int[] sum = { 1 };
				world.group(rank).allReduce(List.of(), DataType.FLOAT32, ReduceOp.SUM);
				world.group(rank).allReduce(sum, ReduceOp.SUM);
				assertThat(sum).containsExactly(2);
				return null;
			});
		}
	}

	@Test
	void limitsLongerThanThreeCenturiesAreAccepted() throws Exception {
		try (World world = Worlds.simulated(1)) {
			ProcessGroup group = world.group(0).withTimeout(FOREVER);
			Work<Void> work = group.barrierAsync();
			assertThat(work.await(FOREVER)).isTrue();
			assertThat(Work.awaitAny(List.of(work), FOREVER)).isSameAs(work);
		}
		try (World world = Worlds.simulated(2)) {
			Thread.currentThread().interrupt();
			assertThatThrownBy(() -> world.group(0).withTimeout(FOREVER).barrier())
				.isInstanceOf(CollectiveException.class);
			assertThat(Thread.interrupted()).isTrue();
		}
	}

	@Test
	void differentRanksOfASubgroupAreRejectedOnEveryRank() throws Exception {
		try (World world = Worlds.simulated(3)) {
			List<Outcome<ProcessGroup>> outcomes = RankThreads.outcomes(3, LIMIT,
					(rank) -> world.group(rank).subgroup((rank == 0) ? List.of(0, 1) : List.of(0, 2)));
			assertThat(outcomes)
				.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(IllegalArgumentException.class)
					.hasMessageContaining("same subgroup"));
			assertThat(outcomes.getFirst().failure()).hasMessageContaining("this rank asked for ranks [0, 1]");
			assertThat(outcomes.getLast().failure()).hasMessageContaining("this rank asked for ranks [0, 2]");
			RankThreads.run(3, LIMIT, (rank) -> {
				world.group(rank).barrier();
				return null;
			});
		}
	}

	@Test
	void aGroupClosesWhileAnotherUsesItsBuffer() throws Exception {
		try (World one = Worlds.simulated(1); World other = Worlds.simulated(2)) {
			MemorySegment buffer = one.group(0).allocate(64);
			MemorySegment second = one.group(0).allocate(64);
			Work<Void> work = other.group(0).allReduceAsync(buffer, DataType.INT32, ReduceOp.SUM);
			while (other.group(0).lastEntered() < 0) {
				Thread.onSpinWait();
			}
			assertThatThrownBy(() -> one.group(0).close()).isInstanceOf(IllegalStateException.class);
			assertThat(second.scope().isAlive()).isFalse();
			other.group(1).allReduce(MemorySegment.ofArray(new int[16]), DataType.INT32, ReduceOp.SUM);
			work.await();
		}
	}

}
