package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveException;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.GroupAbortedException;
import io.tutti.GroupState;
import io.tutti.Message;
import io.tutti.MessageMismatchException;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.backend.CollectivesContract.World;
import io.tutti.engine.backend.RankThreads.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The contract of point-to-point messages on every transport.
 */
@Timeout(60)
abstract class PointToPointContract {

	static final Duration LIMIT = Duration.ofSeconds(30);

	/** Around the limits of the eager protocol and of the first write. */
	private static final int[] BYTES = { 0, 1, 8191, 8192, 8193, 65_536, 65_537, 131_072, 131_073, 3_000_001 };

	abstract World world(int worldSize) throws Exception;

	private static byte[] content(int seed, int bytes) {
		byte[] content = new byte[bytes];
		new SplittableRandom(seed).nextBytes(content);
		return content;
	}

	private static MemorySegment heap(byte[] bytes) {
		return MemorySegment.ofArray(bytes);
	}

	@Test
	void aSendInAGroupThatBothRanksHaveClosedIsRefusedAtOnce() throws Exception {
		try (World world = world(2)) {
			CountDownLatch closed = new CountDownLatch(2);
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank).split(0, rank);
				group.close();
				closed.countDown();
				assertThat(closed.await(LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
				MemorySegment one = MemorySegment.ofArray(new byte[1]);
				assertThatThrownBy(() -> group.send(one, DataType.INT8, 1 - rank, 0))
					.isInstanceOf(IllegalStateException.class)
					.hasMessageContaining("is closed");
				assertThatThrownBy(() -> group.sendAsync(one, DataType.INT8, 1 - rank, 0))
					.isInstanceOf(IllegalStateException.class);
				assertThatThrownBy(() -> group.sendReceive(one, 1 - rank, MemorySegment.ofArray(new byte[1]), 1 - rank,
						DataType.INT8, 0))
					.isInstanceOf(IllegalStateException.class);
				world.group(rank).barrier();
				return null;
			});
		}
	}

	@Test
	void aMessageOfAnySizeArrivesUnchanged() throws Exception {
		try (World world = world(2); Arena arena = Arena.ofShared()) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				for (int bytes : BYTES) {
					MemorySegment buffer = arena.allocate(bytes);
					if (rank == 0) {
						buffer.copyFrom(heap(content(bytes, bytes)));
						group.send(buffer, DataType.INT8, 1, 3);
						group.send(heap(content(bytes + 1, bytes)), DataType.UINT8, 1, 4);
					}
					else {
						assertThat(group.receive(buffer, DataType.INT8, 0, 3)).isEqualTo(bytes);
						assertThat(buffer.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(content(bytes, bytes));
						byte[] larger = new byte[bytes + 5];
						assertThat(group.receive(heap(larger), DataType.UINT8, 0, 4)).isEqualTo(bytes);
						assertThat(Arrays.copyOf(larger, bytes)).isEqualTo(content(bytes + 1, bytes));
					}
				}
				return null;
			});
		}
	}

	@Test
	void theLegalProgramWithACollectiveBetweenReceiveAndWaitRuns() throws Exception {
		for (int bytes : BYTES) {
			try (World world = world(2)) {
				RankThreads.run(2, LIMIT, (rank) -> {
					ProcessGroup group = world.group(rank);
					int[] sum = { rank + 1 };
					if (rank == 0) {
						byte[] got = new byte[bytes];
						CompletableFuture<Message> receive = group.receiveAsync(heap(got), DataType.INT8, 1, 7)
							.toFuture();
						group.allReduce(sum, ReduceOp.SUM);
						assertThat(receive.get(20, TimeUnit.SECONDS)).isEqualTo(new Message(1, 7, bytes));
						assertThat(got).isEqualTo(content(bytes, bytes));
					}
					else {
						group.allReduce(sum, ReduceOp.SUM);
						group.send(heap(content(bytes, bytes)), DataType.INT8, 0, 7);
					}
					assertThat(sum).containsExactly(3);
					return null;
				});
			}
		}
	}

	@Test
	void aSmallSendBeforeACollectiveNeedsNoReceive() throws Exception {
		try (World world = world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				for (int i = 0; i < 20; i++) {
					group.send(heap(content(rank * 100 + i, 65_536)), DataType.INT8, 1 - rank, i);
				}
				group.barrier();
				for (int i = 19; i >= 0; i--) {
					byte[] got = new byte[65_536];
					group.receive(heap(got), DataType.INT8, 1 - rank, i);
					assertThat(got).isEqualTo(content((1 - rank) * 100 + i, 65_536));
				}
				return null;
			});
		}
	}

	@Test
	void bothMaySendLargeMessagesBeforeTheyReceive() throws Exception {
		int bytes = 5_000_000;
		try (World world = world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				CompletableFuture<Void> send = group.sendAsync(heap(content(rank, bytes)), DataType.INT8, 1 - rank, 0)
					.toFuture();
				byte[] got = new byte[bytes];
				group.receive(heap(got), DataType.INT8, 1 - rank, 0);
				send.get(20, TimeUnit.SECONDS);
				assertThat(got).isEqualTo(content(1 - rank, bytes));
				group.sendReceive(heap(content(rank + 2, bytes)), 1 - rank, heap(got), 1 - rank, DataType.INT8, 1);
				assertThat(got).isEqualTo(content(3 - rank, bytes));
				return null;
			});
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 5, 8 })
	void sendReceivePassesValuesAroundTheRing(int worldSize) throws Exception {
		try (World world = world(worldSize)) {
			RankThreads.run(worldSize, LIMIT, (rank) -> {
				int right = (rank + 1) % worldSize;
				int left = (rank + worldSize - 1) % worldSize;
				for (int elements : new int[] { 1, 40_000 }) {
					int[] mine = new int[elements];
					Arrays.fill(mine, rank);
					int[] theirs = new int[elements];
					world.group(rank)
						.sendReceive(MemorySegment.ofArray(mine), right, MemorySegment.ofArray(theirs), left,
								DataType.INT32, 2);
					assertThat(theirs).containsOnly(left);
				}
				return null;
			});
		}
	}

	@Test
	void messagesAreMatchedByTagAndKeepTheirOrderWithinOne() throws Exception {
		try (World world = world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				int[] sizes = { 1, 200_000, 2, 200_001 };
				if (rank == 0) {
					List<CompletableFuture<Void>> sends = new ArrayList<>();
					for (int tag = 0; tag < 2; tag++) {
						for (int bytes : sizes) {
							sends.add(group.sendAsync(heap(content(tag + bytes, bytes)), DataType.INT8, 1, tag)
								.toFuture());
						}
					}
					CompletableFuture.allOf(sends.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
					return null;
				}
				for (int tag = 1; tag >= 0; tag--) {
					for (int bytes : sizes) {
						byte[] got = new byte[300_000];
						assertThat(group.receive(heap(got), DataType.INT8, 0, tag)).isEqualTo(bytes);
						assertThat(Arrays.copyOf(got, bytes)).isEqualTo(content(tag + bytes, bytes));
					}
				}
				return null;
			});
		}
	}

	@Test
	void receivesPostedAheadAreServedInTheOrderTheyWerePosted() throws Exception {
		try (World world = world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				int[][] got = new int[30][1];
				List<CompletableFuture<Message>> receive = new ArrayList<>();
				if (rank == 1) {
					for (int[] one : got) {
						receive.add(
								group
									.receiveAsync(MemorySegment.ofArray(one), DataType.INT32, Message.ANY_SOURCE,
											Message.ANY_TAG)
									.toFuture());
					}
				}
				group.barrier();
				for (int i = 0; i < got.length; i++) {
					if (rank == 0) {
						group.send(MemorySegment.ofArray(new int[] { i }), DataType.INT32, 1, i);
					}
					else {
						assertThat(receive.get(i).get(20, TimeUnit.SECONDS)).isEqualTo(new Message(0, i, 1));
						assertThat(got[i]).containsExactly(i);
					}
				}
				return null;
			});
		}
	}

	@Test
	void aReceiveFromAnyRankReturnsItsSource() throws Exception {
		try (World world = world(4)) {
			RankThreads.run(4, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				if (rank > 0) {
					group.send(MemorySegment.ofArray(new long[] { rank, rank }), DataType.INT64, 0, 10 + rank);
					return null;
				}
				List<Integer> sources = new ArrayList<>();
				for (int i = 0; i < 3; i++) {
					long[] got = new long[2];
					Message message = group.receiveAny(MemorySegment.ofArray(got), DataType.INT64, Message.ANY_SOURCE,
							Message.ANY_TAG);
					assertThat(message).isEqualTo(new Message((int) got[0], 10 + (int) got[0], 2));
					sources.add(message.source());
				}
				assertThat(sources).containsExactlyInAnyOrder(1, 2, 3);
				return null;
			});
		}
	}

	@Test
	void aRankMaySendToItself() throws Exception {
		try (World world = world(2)) {
			ProcessGroup group = world.group(0);
			group.send(heap(content(1, 100)), DataType.INT8, 0, 1);
			CompletableFuture<Void> large = group.sendAsync(heap(content(2, 200_000)), DataType.INT8, 0, 2).toFuture();
			byte[] got = new byte[200_000];
			assertThat(group.receive(heap(got), DataType.INT8, 0, 2)).isEqualTo(200_000);
			assertThat(got).isEqualTo(content(2, 200_000));
			assertThat(large).succeedsWithin(LIMIT);
			assertThat(group.receive(heap(got), DataType.INT8, 0, 1)).isEqualTo(100);
			assertThat(Arrays.copyOf(got, 100)).isEqualTo(content(1, 100));
			CompletableFuture<Message> posted = group.receiveAsync(heap(got), DataType.INT8, 0, 3).toFuture();
			group.send(heap(content(3, 200_000)), DataType.INT8, 0, 3);
			assertThat(posted).succeedsWithin(LIMIT);
			assertThat(got).isEqualTo(content(3, 200_000));
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 1000, 200_000 })
	void aMessageLargerThanTheBufferIsAnErrorOnlyOfTheReceiver(int bytes) throws Exception {
		try (World world = world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				if (rank == 0) {
					for (int i = 0; i < 4; i++) {
						group.send(heap(content(i, bytes)), DataType.INT8, 1, 5);
					}
					return null;
				}
				byte[] small = new byte[bytes - 1];
				assertThatThrownBy(() -> group.receive(heap(small), DataType.INT8, 0, 5))
					.isInstanceOf(MessageMismatchException.class)
					.hasMessageContaining("rank 0")
					.hasMessageContaining("tag 5")
					.hasMessageContaining(bytes + " bytes")
					.hasMessageContaining(small.length + " bytes")
					.satisfies((ex) -> {
						MessageMismatchException failure = (MessageMismatchException) ex;
						assertThat(failure.rank()).isOne();
						assertThat(failure.worldSize()).isEqualTo(2);
						assertThat(failure.group()).isEqualTo("world");
					});
				assertThat(small).containsOnly(0);
				assertThatThrownBy(() -> group.receive(heap(new byte[4 * bytes]), DataType.INT32, 0, 5))
					.isInstanceOf(MessageMismatchException.class)
					.hasMessageContaining("int32");
				CompletableFuture<Message> receive = group.receiveAsync(heap(small), DataType.INT8, 0, 5).toFuture();
				assertThat(receive).failsWithin(LIMIT)
					.withThrowableThat()
					.withCauseInstanceOf(MessageMismatchException.class);
				byte[] enough = new byte[bytes];
				group.receive(heap(enough), DataType.INT8, 0, 5);
				assertThat(enough).isEqualTo(content(3, bytes));
				assertThat(group.state()).isEqualTo(GroupState.READY);
				return null;
			});
		}
	}

	@Test
	void badArgumentsAreRejectedBeforeAnythingIsSent() throws Exception {
		try (World world = world(2)) {
			ProcessGroup group = world.group(0);
			MemorySegment buffer = heap(new byte[8]);
			assertThatThrownBy(() -> group.send(buffer, DataType.INT8, 2, 0))
				.isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("0..1");
			assertThatThrownBy(() -> group.send(buffer, DataType.INT8, 1, -1))
				.isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("tag");
			assertThatThrownBy(() -> group.send(buffer, DataType.INT8, Message.ANY_SOURCE, 0))
				.isInstanceOf(IllegalArgumentException.class);
			assertThatThrownBy(() -> group.receive(buffer, DataType.INT8, 1, Message.ANY_TAG))
				.isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("receiveAny");
			assertThatThrownBy(() -> group.receive(buffer, DataType.INT8, Message.ANY_SOURCE, 0))
				.isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("receiveAny");
			assertThatThrownBy(() -> group.receiveAny(buffer, DataType.INT8, -1, 0))
				.isInstanceOf(IllegalArgumentException.class);
			assertThatThrownBy(() -> group.receive(buffer.asReadOnly(), DataType.INT8, 1, 0))
				.isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("read-only");
			assertThatThrownBy(() -> group.send(heap(new byte[7]), DataType.INT32, 1, 0))
				.isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("7 bytes");
			assertThatThrownBy(() -> group.sendReceive(buffer, 1, buffer, 1, DataType.INT8, 0))
				.isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("overlap");
			assertThatThrownBy(() -> group.withTimeout(Duration.ZERO).receive(buffer, DataType.INT8, 1, 0))
				.isInstanceOf(IllegalArgumentException.class);
			assertThat(group.state()).isEqualTo(GroupState.READY);
		}
	}

	@Test
	void aDeadlineEndsAnUnmatchedReceiveAloneAndNamesThePeer() throws Exception {
		try (World world = world(3)) {
			assertThatThrownBy(() -> world.group(0)
				.withTimeout(Duration.ofMillis(200))
				.receive(heap(new byte[1]), DataType.INT8, 2, 9)).isInstanceOf(CollectiveTimeoutException.class)
				.hasMessageContaining("receive from rank 2 with tag 9")
				.satisfies((ex) -> assertThat(((CollectiveException) ex).failure().ranks()).containsExactly(2));
			assertThat(world.group(0).state()).isEqualTo(GroupState.READY);
			world.group(2).send(heap(content(1, 1)), DataType.INT8, 0, 9);
			byte[] got = new byte[1];
			world.group(0).receive(heap(got), DataType.INT8, 2, 9);
			assertThat(got).isEqualTo(content(1, 1));
		}
	}

	@Test
	void aDeadlineEndsASendThatNoRankReceivesAlone() throws Exception {
		try (World world = world(2)) {
			assertThatThrownBy(() -> world.group(0)
				.withTimeout(Duration.ofMillis(200))
				.send(heap(new byte[200_000]), DataType.INT8, 1, 0)).isInstanceOf(CollectiveTimeoutException.class)
				.satisfies((ex) -> assertThat(((CollectiveException) ex).failure().ranks()).containsExactly(1));
			assertThat(world.group(0).state()).isEqualTo(GroupState.READY);
			RankThreads.run(2, LIMIT, (rank) -> {
				world.group(rank).barrier();
				return null;
			});
		}
	}

	@Test
	void anAbortEndsEveryKindOfWait() throws Exception {
		try (World world = world(2)) {
			CompletableFuture<Message> receive = world.group(0)
				.receiveAsync(heap(new byte[9]), DataType.INT8, 1, 0)
				.toFuture();
			CompletableFuture<Void> send = world.group(0)
				.sendAsync(heap(new byte[200_000]), DataType.INT8, 1, 0)
				.toFuture();
			CountDownLatch begun = new CountDownLatch(1);
			List<Outcome<Void>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				if (rank == 1) {
					begun.await();
					world.group(1).abort("enough");
				}
				else {
					begun.countDown();
					world.group(0).receive(heap(new byte[9]), DataType.INT8, 1, 1);
				}
				return null;
			});
			assertThat(outcomes.get(0).failure()).isInstanceOf(GroupAbortedException.class)
				.hasMessageContaining("enough");
			assertThat(receive).failsWithin(LIMIT).withThrowableThat().withCauseInstanceOf(GroupAbortedException.class);
			assertThat(send).failsWithin(LIMIT).withThrowableThat().withCauseInstanceOf(GroupAbortedException.class);
		}
	}

	@Test
	void aClosedGroupEndsItsOwnReceivesAndRejectsNewOnes() throws Exception {
		try (World world = world(2)) {
			ProcessGroup group = world.group(0);
			CompletableFuture<Message> receive = group.receiveAsync(heap(new byte[9]), DataType.INT8, 1, 0).toFuture();
			group.close();
			assertThat(receive).failsWithin(LIMIT);
			assertThatThrownBy(() -> group.send(heap(new byte[1]), DataType.INT8, 1, 0))
				.isInstanceOf(IllegalStateException.class);
		}
	}

	@Test
	void aSmallMessageArrivesAfterItsSenderHasLeft() throws Exception {
		try (World world = world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup half = world.group(rank).split(0, rank);
				if (rank == 0) {
					half.send(heap(content(1, 60_000)), DataType.INT8, 1, 0);
					half.close();
				}
				world.group(rank).barrier();
				if (rank == 1) {
					byte[] got = new byte[60_000];
					half.receive(heap(got), DataType.INT8, 0, 0);
					assertThat(got).isEqualTo(content(1, 60_000));
				}
				return null;
			});
		}
	}

	@Test
	void manySmallSendsArriveAlsoIfTheReceiverEntersTheBarrierFirst() throws Exception {
		int messages = 150;
		try (World world = world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				for (int i = 0; i < messages && rank == 0; i++) {
					group.send(heap(content(i, 60_000)), DataType.INT8, 1, i % 3);
				}
				group.barrier();
				for (int i = 0; i < messages && rank == 1; i++) {
					byte[] got = new byte[60_000];
					group.receive(heap(got), DataType.INT8, 0, i % 3);
					assertThat(got).isEqualTo(content(i, 60_000));
				}
				return null;
			});
		}
	}

	@Test
	void smallSendsThatReturnedArriveAlthoughTheSenderClosesWhileTheReceiverComputes() throws Exception {
		int messages = 55;
		CountDownLatch closed = new CountDownLatch(1);
		try (World world = world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup half = world.group(rank).split(0, rank);
				if (rank == 0) {
					for (int i = 0; i < messages; i++) {
						half.send(heap(content(i, 60_000)), DataType.INT8, 1, 0);
					}
					half.close();
					closed.countDown();
					return null;
				}
				assertThat(closed.await(LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
				for (int i = 0; i < messages; i++) {
					byte[] got = new byte[60_000];
					half.receive(heap(got), DataType.INT8, 0, 0);
					assertThat(got).isEqualTo(content(i, 60_000));
				}
				return null;
			});
		}
	}

	/** A message as all ranks plan it. */
	private record Plan(int from, int to, int tag, int bytes, int seed, boolean sendsAsync, boolean receivesAsync) {
	}

	private static List<Plan> plans(Random random, int worldSize) {
		List<Plan> plans = new ArrayList<>();
		for (int i = 0; i < 150; i++) {
			int bytes = switch (random.nextInt(4)) {
				case 0 -> random.nextInt(10);
				case 1 -> random.nextInt(10_000);
				case 2 -> 65_530 + random.nextInt(12);
				default -> random.nextInt(300_000);
			};
			plans.add(new Plan(random.nextInt(worldSize), random.nextInt(worldSize), random.nextInt(3), bytes,
					random.nextInt(), random.nextBoolean(), random.nextBoolean()));
		}
		return plans;
	}

	/**
	 * All ranks process one list of messages in order. A rank posts messages to itself
	 * and asynchronous ones, and continues.
	 */
	@Test
	void randomTrafficArrivesUnchanged() throws Exception {
		long seed = Long.getLong("tutti.test.seed", System.nanoTime());
		System.out.println("random messages: -Dtutti.test.seed=" + seed);
		Random random = new Random(seed);
		for (int round = 0; round < 6; round++) {
			int worldSize = 1 + random.nextInt(5);
			List<Plan> plans = plans(random, worldSize);
			try (World world = world(worldSize)) {
				RankThreads.run(worldSize, LIMIT, (rank) -> {
					play(world.group(rank), plans);
					return null;
				});
			}
			catch (Exception | AssertionError ex) {
				throw new AssertionError("with -Dtutti.test.seed=" + seed, ex);
			}
		}
	}

	private static void play(ProcessGroup group, List<Plan> plans) throws Exception {
		int rank = group.rank();
		List<CompletableFuture<?>> open = new ArrayList<>();
		List<byte[]> got = new ArrayList<>();
		List<Plan> expected = new ArrayList<>();
		for (int i = 0; i < plans.size(); i++) {
			Plan plan = plans.get(i);
			if (plan.to() == rank) {
				byte[] buffer = new byte[plan.bytes()];
				got.add(buffer);
				expected.add(plan);
				if (plan.receivesAsync() || plan.from() == rank) {
					open.add(group.receiveAsync(heap(buffer), DataType.INT8, plan.from(), plan.tag()).toFuture());
				}
				else {
					group.receive(heap(buffer), DataType.INT8, plan.from(), plan.tag());
				}
			}
			if (plan.from() == rank) {
				MemorySegment content = heap(content(plan.seed(), plan.bytes()));
				if (plan.sendsAsync()) {
					open.add(group.sendAsync(content, DataType.INT8, plan.to(), plan.tag()).toFuture());
				}
				else {
					group.send(content, DataType.INT8, plan.to(), plan.tag());
				}
			}
			if (i % 40 == 39) {
				group.barrier();
			}
		}
		CompletableFuture.allOf(open.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
		for (int i = 0; i < got.size(); i++) {
			assertThat(got.get(i)).isEqualTo(content(expected.get(i).seed(), expected.get(i).bytes()));
		}
	}

}
