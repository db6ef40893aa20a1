package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.Transfer;
import io.tutti.Work;
import io.tutti.engine.backend.AsyncCallTest.Connection;
import io.tutti.engine.backend.CollectivesContract.World;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Cases of the suites of Gloo, MPICH and torch.distributed that no other test has.
 * {@code src/docs/conformance.md} lists the test of every case.
 */
@Timeout(120)
class PeerSuitesTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final int RANKS = 3;

	/** One rank's part of a test. */
	private interface Part {

		void run(ProcessGroup group) throws Exception;

	}

	private static void onEveryRank(Connection connection, Part part) throws Exception {
		try (World world = connection.world(RANKS)) {
			RankThreads.run(RANKS, LIMIT, (rank) -> {
				part.run(world.group(rank));
				world.group(rank).barrier();
				return null;
			});
		}
	}

	/** In float32, (1e8 + 1) - 1e8 is 0 and (1e8 - 1e8) + 1 is 1. */
	@ParameterizedTest
	@EnumSource
	void scansCombineRoundedSumsInRankOrder(Connection connection) throws Exception {
		onEveryRank(connection, (group) -> {
			float[] operand = { new float[] { 1e8f, 1, -1e8f }[group.rank()] };
			float[] inclusive = new float[1];
			float[] exclusive = { 5 };
			group.scan(operand, inclusive, ReduceOp.SUM);
			group.exclusiveScan(operand, exclusive, ReduceOp.SUM);
			assertThat(inclusive).containsExactly(new float[] { 1e8f, 1e8f, 0 }[group.rank()]);
			assertThat(exclusive).containsExactly(new float[] { 5, 1e8f, 1e8f }[group.rank()]);
		});
	}

	@ParameterizedTest
	@EnumSource
	void sumsAndProductsOfBytesWrapAround(Connection connection) throws Exception {
		onEveryRank(connection, (group) -> {
			for (DataType type : List.of(DataType.INT8, DataType.UINT8)) {
				assertThat(reduced(group, type, ReduceOp.SUM, 100)).isEqualTo((byte) 300);
				assertThat(reduced(group, type, ReduceOp.PRODUCT, 7)).isEqualTo((byte) 343);
			}
		});
	}

	@ParameterizedTest
	@EnumSource
	void theHighestBitIsASignOnlyInSignedBytes(Connection connection) throws Exception {
		onEveryRank(connection, (group) -> {
			int operand = (group.rank() == 1) ? 200 : 100;
			assertThat(reduced(group, DataType.UINT8, ReduceOp.MAX, operand)).isEqualTo((byte) 200);
			assertThat(reduced(group, DataType.UINT8, ReduceOp.MIN, operand)).isEqualTo((byte) 100);
			assertThat(reduced(group, DataType.INT8, ReduceOp.MAX, operand)).isEqualTo((byte) 100);
			assertThat(reduced(group, DataType.INT8, ReduceOp.MIN, operand)).isEqualTo((byte) 200);
		});
	}

	private static byte reduced(ProcessGroup group, DataType type, ReduceOp op, int operand) {
		byte[] buffer = { (byte) operand };
		group.allReduce(MemorySegment.ofArray(buffer), type, op);
		return buffer[0];
	}

	@ParameterizedTest
	@EnumSource
	void minimumAndMaximumOrderZerosBySignAndReturnNaN(Connection connection) throws Exception {
		onEveryRank(connection, (group) -> {
			int rank = group.rank();
			float[] floats = { (rank == 1) ? -0.0f : 0.0f, (rank == 2) ? Float.NaN : rank };
			float[] minima = new float[2];
			float[] maxima = new float[2];
			group.allReduce(floats, minima, ReduceOp.MIN);
			group.allReduce(floats, maxima, ReduceOp.MAX);
			assertThat(minima).containsExactly(-0.0f, Float.NaN);
			assertThat(maxima).containsExactly(0.0f, Float.NaN);
			double[] doubles = { (rank == 0) ? -0.0 : 0.0, (rank == 0) ? Double.NaN : rank };
			group.allReduce(doubles, ReduceOp.MIN);
			assertThat(doubles).containsExactly(-0.0, Double.NaN);
		});
	}

	@ParameterizedTest
	@EnumSource
	void aRankMayHaveNoElementsInACallWithCounts(Connection connection) throws Exception {
		onEveryRank(connection, (group) -> {
			long[] counts = { 0, 2, 0 };
			boolean owner = group.rank() == 1;
			MemorySegment part = ints(owner ? new int[] { 4, 5 } : new int[0]);
			int[] all = new int[2];
			group.allGather(part, ints(all), counts, DataType.INT32);
			assertThat(all).containsExactly(4, 5);
			int[] gathered = new int[2];
			group.gather(part, (group.rank() == 2) ? ints(gathered) : MemorySegment.NULL, counts, DataType.INT32, 2);
			assertThat(gathered).containsExactly((group.rank() == 2) ? new int[] { 4, 5 } : new int[2]);
			int[] own = new int[owner ? 2 : 0];
			group.scatter((group.rank() == 2) ? ints(gathered) : MemorySegment.NULL, ints(own), counts, DataType.INT32,
					2);
			assertThat(own).containsExactly(owner ? new int[] { 4, 5 } : new int[0]);
			group.reduceScatter(ints(all), ints(own), counts, DataType.INT32, ReduceOp.SUM);
			assertThat(own).containsExactly(owner ? new int[] { 12, 15 } : new int[0]);
		});
	}

	@ParameterizedTest
	@EnumSource
	void ranksMayExchangeNothingWithSomePeers(Connection connection) throws Exception {
		onEveryRank(connection, (group) -> {
			int next = (group.rank() + 1) % RANKS;
			int previous = (group.rank() + 2) % RANKS;
			long[] sendCounts = new long[RANKS];
			long[] receiveCounts = new long[RANKS];
			sendCounts[next] = 1;
			receiveCounts[previous] = 1;
			int[] received = new int[1];
			group.allToAll(ints(group.rank()), sendCounts, ints(received), receiveCounts, DataType.INT32);
			assertThat(received).containsExactly(previous);
			group.allToAll(ints(), new long[RANKS], ints(), new long[RANKS], DataType.INT32);
		});
	}

	@ParameterizedTest
	@EnumSource
	void messagesOfOneSourceAreReceivedInOrderAlsoFromAnySource(Connection connection) throws Exception {
		int messages = 200;
		onEveryRank(connection, (group) -> {
			if (group.rank() > 0) {
				for (int i = 0; i < messages; i++) {
					group.send(ints(i), DataType.INT32, 0, i % 7);
				}
				return;
			}
			int[] next = new int[RANKS];
			int[] received = new int[1];
			for (int i = 0; i < messages * (RANKS - 1); i++) {
				Message message = group.receiveAny(ints(received), DataType.INT32, Message.ANY_SOURCE, Message.ANY_TAG);
				assertThat(received[0]).isEqualTo(next[message.source()]++);
				assertThat(message.tag()).isEqualTo(received[0] % 7);
			}
			assertThat(next).containsExactly(0, messages, messages);
		});
	}

	@ParameterizedTest
	@EnumSource
	void manyReceivesAreOutstandingWhileMessagesArriveInReverseOrder(Connection connection) throws Exception {
		int messages = 500;
		onEveryRank(connection, (group) -> {
			int next = (group.rank() + 1) % RANKS;
			int previous = (group.rank() + 2) % RANKS;
			int[][] received = new int[messages][1];
			List<Work<?>> works = new ArrayList<>();
			for (int tag = 0; tag < messages; tag++) {
				works.add(group.receiveAsync(ints(received[tag]), DataType.INT32, previous, tag));
			}
			for (int tag = messages - 1; tag >= 0; tag--) {
				works.add(group.sendAsync(ints(1000 * group.rank() + tag), DataType.INT32, next, tag));
			}
			Work.awaitAll(works);
			for (int tag = 0; tag < messages; tag++) {
				assertThat(received[tag]).containsExactly(1000 * previous + tag);
			}
		});
	}

	@ParameterizedTest
	@EnumSource
	void manyCollectivesAreOutstanding(Connection connection) throws Exception {
		onEveryRank(connection, (group) -> {
			int[][] values = new int[500][];
			List<Work<Void>> works = new ArrayList<>();
			for (int call = 0; call < values.length; call++) {
				values[call] = new int[] { call, group.rank() };
				works.add((call % 2 == 0) ? group.allReduceAsync(ints(values[call]), DataType.INT32, ReduceOp.SUM)
						: group.broadcastAsync(ints(values[call]), DataType.INT32, call % RANKS));
			}
			Work.awaitAll(works);
			for (int call = 0; call < values.length; call++) {
				assertThat(values[call])
					.containsExactly((call % 2 == 0) ? new int[] { 3 * call, 3 } : new int[] { call, call % RANKS });
			}
		});
	}

	@ParameterizedTest
	@EnumSource
	void messagesToItselfOfAnySizeAreReceived(Connection connection) throws Exception {
		onEveryRank(connection, (group) -> {
			for (int count : new int[] { 0, 1, 16_384, 16_385, 300_000 }) {
				int[] sent = new int[count];
				Arrays.setAll(sent, (i) -> i + group.rank());
				int[] received = new int[count];
				Work.awaitAll(group.startAll(List.of(Transfer.send(ints(sent), DataType.INT32, group.rank(), count),
						Transfer.receive(ints(received), DataType.INT32, Message.ANY_SOURCE, Message.ANY_TAG))));
				assertThat(received).isEqualTo(sent);
			}
		});
	}

	@ParameterizedTest
	@EnumSource
	void theLargestTagIsATagLikeAnyOther(Connection connection) throws Exception {
		onEveryRank(connection, (group) -> {
			int[] received = new int[1];
			group.sendAsync(ints(group.rank()), DataType.INT32, (group.rank() + 1) % RANKS, Integer.MAX_VALUE);
			assertThat(group.probe(Message.ANY_SOURCE, Integer.MAX_VALUE).tag()).isEqualTo(Integer.MAX_VALUE);
			group.receive(ints(received), DataType.INT32, (group.rank() + 2) % RANKS, Integer.MAX_VALUE);
			assertThat(received).containsExactly((group.rank() + 2) % RANKS);
			assertThatThrownBy(() -> group.send(ints(1), DataType.INT32, 0, -1))
				.isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("-1");
		});
	}

	@ParameterizedTest
	@EnumSource
	void anEmptyMessageHasAnEnvelope(Connection connection) throws Exception {
		onEveryRank(connection, (group) -> {
			group.sendAsync(ints(), DataType.FLOAT64, (group.rank() + 1) % RANKS, 4);
			Message expected = new Message((group.rank() + 2) % RANKS, 4, 0);
			assertThat(group.probe(Message.ANY_SOURCE, Message.ANY_TAG)).isEqualTo(expected);
			assertThat(group.receiveAny(ints(), DataType.FLOAT64, Message.ANY_SOURCE, 4)).isEqualTo(expected);
		});
	}

	@ParameterizedTest
	@EnumSource
	void twoThreadsUseTwoGroupsOfTheSameRanksAtOnce(Connection connection) throws Exception {
		onEveryRank(connection, (group) -> {
			try (ProcessGroup first = group.split(0, 0); ProcessGroup second = group.split(0, -group.rank())) {
				CompletableFuture<Void> other = CompletableFuture.runAsync(() -> sumAgainAndAgain(second, 7),
						(task) -> Thread.ofPlatform().start(task));
				sumAgainAndAgain(first, 1);
				other.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
				group.barrier();
			}
		});
	}

	private static void sumAgainAndAgain(ProcessGroup group, int factor) {
		for (int round = 0; round < 100; round++) {
			int[] values = new int[1 + 50 * round];
			values[values.length - 1] = factor * (round + group.rank());
			group.allReduce(values, ReduceOp.SUM);
			assertThat(values[values.length - 1]).isEqualTo(factor * (3 * round + 3));
		}
	}

	@ParameterizedTest
	@EnumSource
	void subgroupsOfOneRankOfASubgroupRunEveryCollective(Connection connection) throws Exception {
		onEveryRank(connection, (group) -> {
			try (ProcessGroup pair = group.split(group.rank() / 2, 0);
					ProcessGroup alone = pair.split(pair.rank(), 0)) {
				assertThat(alone.worldSize()).isOne();
				int[] own = { group.rank() };
				int[] copy = new int[1];
				alone.allReduce(own, copy, ReduceOp.AVERAGE);
				assertThat(copy).isEqualTo(own);
				alone.scan(own, copy, ReduceOp.PRODUCT);
				alone.allGather(own, copy);
				alone.allToAll(own, copy);
				alone.reduceScatter(own, copy, ReduceOp.MIN);
				alone.broadcast(own, 0);
				alone.barrier();
				assertThat(copy).containsExactly(group.rank());
			}
		});
	}

	private static MemorySegment ints(int... values) {
		return MemorySegment.ofArray(values);
	}

}
