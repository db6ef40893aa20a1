package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.tutti.CollectiveException;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.GroupAbortedException;
import io.tutti.Message;
import io.tutti.OwnThread;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.PointToPointPair.Kind;
import io.tutti.engine.p2p.PointToPointEngine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Probes, and sends and receives that end alone because no message has matched them: at
 * their deadline or by a call to cancel.
 */
@Timeout(60)
class UnmatchedMessagesTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final Duration SOON = Duration.ofMillis(100);

	/** Around the limits of the eager protocol and of the first write. */
	private static final int[] SIZES = { 0, 1, 5000, 65_536, 65_537, 131_072, 131_073, 300_000 };

	private static final int LARGE_BYTES = 200_000;

	private static final int RACES = 400;

	private static MemorySegment content(int seed, int bytes) {
		byte[] content = new byte[bytes];
		new SplittableRandom(seed).nextBytes(content);
		return MemorySegment.ofArray(content);
	}

	private static MemorySegment buffer(int bytes) {
		return MemorySegment.ofArray(new byte[bytes]);
	}

	private static void requireContent(MemorySegment received, int seed, long bytes) {
		assertThat(received.asSlice(0, bytes).mismatch(content(seed, (int) bytes))).isEqualTo(-1);
	}

	/** Both directions still work, with small and with large messages. */
	private static void requireUsable(PointToPointPair pair) throws Exception {
		RankThreads.run(2, LIMIT, (rank) -> {
			for (int bytes : new int[] { 10, LARGE_BYTES }) {
				MemorySegment received = buffer(bytes);
				pair.engine(rank)
					.sendReceive(content(rank, bytes), 1 - rank, received, 1 - rank, DataType.INT8, 77, LIMIT);
				requireContent(received, 1 - rank, bytes);
			}
			assertThat(pair.failure(rank)).isNull();
			assertThat(pair.reports(rank)).isEmpty();
			return null;
		});
	}

	/** The send is received late, and nothing is sent back. */
	@Test
	void bothHalvesOfASendReceiveHaveOneTimeLimit() throws Exception {
		Duration limit = Duration.ofSeconds(2);
		try (PointToPointPair pair = new PointToPointPair(Kind.SIMULATED)) {
			pair.resolveLocally(0);
			RankThreads.run(2, LIMIT, (rank) -> {
				if (rank == 1) {
					Thread.sleep(limit.minusMillis(300));
					pair.engine(1).receive(buffer(LARGE_BYTES), DataType.INT8, 0, 5, LIMIT);
					return null;
				}
				long start = System.nanoTime();
				assertThatThrownBy(() -> pair.engine(0)
					.sendReceive(content(0, LARGE_BYTES), 1, buffer(10), 1, DataType.INT8, 5, limit))
					.isInstanceOf(CollectiveTimeoutException.class);
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(limit.plusMillis(1400));
				return null;
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void aProbeReturnsTheEnvelopeAndLeavesTheMessage(Kind kind) throws Exception {
		try (PointToPointPair pair = new PointToPointPair(kind)) {
			PointToPointEngine receiver = pair.engine(0);
			assertThat(receiver.peek(1, 5, LIMIT)).isNull();
			for (int bytes : SIZES) {
				CompletableFuture<Message> send = pair.engine(1)
					.sendAsync(content(bytes, bytes), DataType.INT8, 0, 5, LIMIT);
				Message expected = new Message(1, 5, bytes);
				assertThat(receiver.probe(1, 5, LIMIT)).isEqualTo(expected);
				assertThat(receiver.probe(Message.ANY_SOURCE, Message.ANY_TAG, LIMIT)).isEqualTo(expected);
				assertThat(receiver.peek(Message.ANY_SOURCE, 5, LIMIT)).isEqualTo(expected);
				assertThat(receiver.peek(1, Message.ANY_TAG, LIMIT)).isEqualTo(expected);
				assertThat(receiver.peek(1, 6, LIMIT)).isNull();
				MemorySegment received = buffer(bytes);
				assertThat(receiver.receive(received, DataType.INT8, 1, 5, LIMIT)).isEqualTo(bytes);
				requireContent(received, bytes, bytes);
				send.get(20, TimeUnit.SECONDS);
				assertThat(receiver.peek(1, 5, LIMIT)).isNull();
			}
			pair.engine(0).send(MemorySegment.ofArray(new double[3]), DataType.FLOAT64, 0, 8, LIMIT);
			assertThat(receiver.peek(0, 8, LIMIT)).isEqualTo(new Message(0, 8, 3));
			receiver.receive(MemorySegment.ofArray(new double[3]), DataType.FLOAT64, 0, 8, LIMIT);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aProbeWaitsForTheMessage(Kind kind) throws Exception {
		try (PointToPointPair pair = new PointToPointPair(kind)) {
			List<Message> probed = RankThreads.run(2, LIMIT, (rank) -> {
				if (rank == 1) {
					LockSupport.parkNanos(SOON.toNanos());
					pair.engine(1).send(MemorySegment.ofArray(new int[4]), DataType.INT32, 0, 3, LIMIT);
					return new Message(1, 3, 4);
				}
				Message message = pair.engine(0).probe(Message.ANY_SOURCE, 3, LIMIT);
				pair.engine(0).receive(MemorySegment.ofArray(new int[4]), DataType.INT32, 1, 3, LIMIT);
				return message;
			});
			assertThat(probed).containsOnly(new Message(1, 3, 4));
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "SIMULATED", "SHARED", "TCP" })
	void aProbeRejectsBadArguments(TestedTransport transport) throws Exception {
		try (DepartureContract.DepartingWorld world = transport.world(2, Timeouts.DEFAULTS)) {
			ProcessGroup group = world.group(0);
			assertThatThrownBy(() -> group.tryProbe(2, 0)).isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("0..1");
			assertThatThrownBy(() -> group.probe(1, -1)).isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("tag");
		}
	}

	@ParameterizedTest
	@EnumSource
	void aBrokenGroupEndsAProbe(Kind kind) throws Exception {
		try (PointToPointPair pair = new PointToPointPair(kind)) {
			CompletableFuture<Message> probe = CompletableFuture.supplyAsync(() -> pair.engine(0).probe(1, 0, LIMIT),
					(task) -> Thread.ofPlatform().start(task));
			pair.fail("enough");
			assertThat(probe).failsWithin(LIMIT).withThrowableThat().withCauseInstanceOf(GroupAbortedException.class);
			assertThatThrownBy(() -> pair.engine(0).peek(1, 0, LIMIT)).isInstanceOf(GroupAbortedException.class);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aReceiveOrProbeThatMatchesNothingFailsAlone(Kind kind) throws Exception {
		try (PointToPointPair pair = new PointToPointPair(kind)) {
			PointToPointEngine receiver = pair.engine(0);
			MemorySegment untouched = buffer(LARGE_BYTES);
			assertThatThrownBy(() -> receiver.receive(untouched, DataType.INT8, 1, 9, SOON))
				.isInstanceOf(CollectiveTimeoutException.class)
				.hasMessageContaining("receive from rank 1 with tag 9")
				.hasMessageContaining("the group stays usable")
				.satisfies((ex) -> assertThat(((CollectiveException) ex).peers()).containsExactly(1));
			assertThatThrownBy(
					() -> receiver.receiveAny(untouched, DataType.INT8, Message.ANY_SOURCE, Message.ANY_TAG, SOON))
				.isInstanceOf(CollectiveTimeoutException.class)
				.hasMessageContaining("receive from any rank with any tag");
			assertThatThrownBy(() -> receiver.probe(1, 9, SOON)).isInstanceOf(CollectiveTimeoutException.class)
				.hasMessageContaining("probe for a message from rank 1 with tag 9");
			CompletableFuture<Message> late = receiver.receiveAsync(untouched, DataType.INT8, 1, 9, SOON);
			CompletableFuture<Message> other = receiver.receiveAsync(buffer(10), DataType.INT8, 1, 8, LIMIT);
			assertThat(late).failsWithin(LIMIT)
				.withThrowableThat()
				.withCauseInstanceOf(CollectiveTimeoutException.class);
			assertThat(other).isNotDone();
			pair.engine(1).send(content(1, 10), DataType.INT8, 0, 9, LIMIT);
			MemorySegment received = buffer(10);
			receiver.receive(received, DataType.INT8, 1, 9, LIMIT);
			requireContent(received, 1, 10);
			assertThat(untouched.mismatch(buffer(LARGE_BYTES))).isEqualTo(-1);
			pair.engine(1).send(content(2, 10), DataType.INT8, 0, 8, LIMIT);
			assertThat(other).succeedsWithin(LIMIT);
			requireUsable(pair);
		}
	}

	/** A synchronous call makes progress for all, and checks its own deadline only. */
	@ParameterizedTest
	@EnumSource
	void anAsynchronousReceiveFailsAtItsDeadlineWhileASynchronousOneWaits(Kind kind) throws Exception {
		try (PointToPointPair pair = new PointToPointPair(kind)) {
			PointToPointEngine receiver = pair.engine(0);
			CompletableFuture<Long> waiting = CompletableFuture
				.supplyAsync(() -> receiver.receive(buffer(10), DataType.INT8, 1, 8, LIMIT), OwnThread.EXECUTOR);
			assertThat(receiver.receiveAsync(buffer(10), DataType.INT8, 1, 9, SOON.multipliedBy(5)))
				.failsWithin(LIMIT.dividedBy(2))
				.withThrowableThat()
				.withCauseInstanceOf(CollectiveTimeoutException.class);
			assertThat(waiting).isNotDone();
			pair.engine(1).send(content(1, 10), DataType.INT8, 0, 8, LIMIT);
			assertThat(waiting).succeedsWithin(LIMIT);
			requireUsable(pair);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aLargeSendThatMatchesNothingFailsAlone(Kind kind) throws Exception {
		try (PointToPointPair pair = new PointToPointPair(kind)) {
			PointToPointEngine sender = pair.engine(1);
			for (int peer = 0; peer < 2; peer++) {
				int to = peer;
				assertThatThrownBy(() -> sender.send(buffer(LARGE_BYTES), DataType.INT8, to, 9, SOON))
					.isInstanceOf(CollectiveTimeoutException.class)
					.hasMessageContaining("send to rank " + to + " with tag 9")
					.hasMessageContaining("the group stays usable");
				assertThat(sender.sendAsync(buffer(LARGE_BYTES), DataType.INT8, to, 9, SOON)).failsWithin(LIMIT)
					.withThrowableThat()
					.withCauseInstanceOf(CollectiveTimeoutException.class);
			}
			assertThat(pair.engine(0).peek(1, 9, LIMIT)).isNull();
			assertThat(sender.peek(1, 9, LIMIT)).isNull();
			CompletableFuture<Message> next = sender.sendAsync(content(3, LARGE_BYTES), DataType.INT8, 0, 9, LIMIT);
			MemorySegment received = buffer(LARGE_BYTES);
			pair.engine(0).receive(received, DataType.INT8, 1, 9, LIMIT);
			requireContent(received, 3, LARGE_BYTES);
			next.get(20, TimeUnit.SECONDS);
			requireUsable(pair);
		}
	}

	@ParameterizedTest
	@EnumSource
	void anExchangeThatMatchesNothingBreaksTheGroup(Kind kind) throws Exception {
		try (PointToPointPair pair = new PointToPointPair(kind)) {
			pair.resolveLocally(0);
			assertThatThrownBy(() -> pair.engine(0).sendReceive(buffer(1), 1, buffer(1), 1, DataType.INT8, 0, SOON))
				.isInstanceOf(CollectiveTimeoutException.class)
				.hasMessageContaining("was not done");
			assertThat(pair.failure(0)).isNotNull();
		}
	}

	@ParameterizedTest
	@EnumSource
	void anUnmatchedOperationCanBeCancelled(Kind kind) throws Exception {
		try (PointToPointPair pair = new PointToPointPair(kind)) {
			PointToPointEngine receiver = pair.engine(0);
			CompletableFuture<Message> receive = receiver.receiveAsync(buffer(1), DataType.INT8, 1, 0, LIMIT);
			assertThat(receiver.cancel(receive)).isTrue();
			assertThat(receive).isCancelled();
			assertThat(receiver.cancel(receive)).isFalse();
			CompletableFuture<Message> send = pair.engine(1).sendAsync(buffer(LARGE_BYTES), DataType.INT8, 0, 0, LIMIT);
			assertThat(pair.engine(1).cancel(send)).isTrue();
			assertThat(send).isCancelled();
			CompletableFuture<Message> own = receiver.sendAsync(buffer(LARGE_BYTES), DataType.INT8, 0, 0, LIMIT);
			assertThat(receiver.cancel(own)).isTrue();
			assertThat(receiver.peek(Message.ANY_SOURCE, Message.ANY_TAG, LIMIT)).isNull();
			requireUsable(pair);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aMatchedOperationCannotBeCancelled(Kind kind) throws Exception {
		try (PointToPointPair pair = new PointToPointPair(kind)) {
			CompletableFuture<Message> small = pair.engine(1).sendAsync(content(1, 9), DataType.INT8, 0, 1, LIMIT);
			small.get(20, TimeUnit.SECONDS);
			assertThat(pair.engine(1).cancel(small)).isFalse();
			CompletableFuture<Message> receive = pair.engine(0).receiveAsync(buffer(9), DataType.INT8, 1, 1, LIMIT);
			assertThat(receive).succeedsWithin(LIMIT);
			assertThat(pair.engine(0).cancel(receive)).isFalse();
			requireUsable(pair);
		}
	}

	/**
	 * A receive is cancelled while its message arrives: the message is received once, by
	 * it or by the next one.
	 */
	@ParameterizedTest
	@EnumSource
	void everyMessageIsReceivedOnceAlthoughReceivesAreCancelled(Kind kind) throws Exception {
		long seed = Long.getLong("tutti.test.seed", System.nanoTime());
		System.out.println("cancelling receives: -Dtutti.test.seed=" + seed);
		try (PointToPointPair pair = new PointToPointPair(kind)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				Random random = new Random(seed + rank);
				PointToPointEngine engine = pair.engine(rank);
				for (int i = 0; i < RACES; i++) {
					int bytes = SIZES[i % SIZES.length];
					MemorySegment received = buffer(bytes);
					if (rank == 1) {
						LockSupport.parkNanos(random.nextInt(50_000));
						engine.send(content(i, bytes), DataType.INT8, 0, 0, LIMIT);
						engine.receive(buffer(0), DataType.INT8, 0, 1, LIMIT);
						continue;
					}
					CompletableFuture<Message> receive = engine.receiveAsync(received, DataType.INT8, 1, 0, LIMIT);
					LockSupport.parkNanos(random.nextInt(100_000));
					if (engine.cancel(receive)) {
						assertThat(receive).isCancelled();
						engine.receive(received, DataType.INT8, 1, 0, LIMIT);
					}
					assertThat(receive.isCancelled() || receive.get(20, TimeUnit.SECONDS).count() == bytes).isTrue();
					requireContent(received, i, bytes);
					engine.send(buffer(0), DataType.INT8, 1, 1, LIMIT);
				}
				return null;
			});
			requireUsable(pair);
		}
	}

	/**
	 * A send is cancelled while its receive is posted: a cancelled message never arrives,
	 * and the next one takes its place.
	 */
	@ParameterizedTest
	@EnumSource
	void aCancelledSendNeverArrives(Kind kind) throws Exception {
		long seed = Long.getLong("tutti.test.seed", System.nanoTime());
		System.out.println("cancelling sends: -Dtutti.test.seed=" + seed);
		try (PointToPointPair pair = new PointToPointPair(kind)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				Random random = new Random(seed + rank);
				PointToPointEngine engine = pair.engine(rank);
				for (int i = 0; i < RACES; i++) {
					if (rank == 0) {
						LockSupport.parkNanos(random.nextInt(100_000));
						MemorySegment received = buffer(LARGE_BYTES);
						engine.receive(received, DataType.INT8, 1, 0, LIMIT);
						byte[] which = new byte[1];
						engine.receive(MemorySegment.ofArray(which), DataType.INT8, 1, 1, LIMIT);
						requireContent(received, 2 * i + which[0], LARGE_BYTES);
						continue;
					}
					CompletableFuture<Message> send = engine.sendAsync(content(2 * i, LARGE_BYTES), DataType.INT8, 0, 0,
							LIMIT);
					LockSupport.parkNanos(random.nextInt(100_000));
					boolean cancelled = engine.cancel(send);
					if (cancelled) {
						engine.send(content(2 * i + 1, LARGE_BYTES), DataType.INT8, 0, 0, LIMIT);
					}
					else {
						send.get(20, TimeUnit.SECONDS);
					}
					engine.send(MemorySegment.ofArray(new byte[] { (byte) (cancelled ? 1 : 0) }), DataType.INT8, 0, 1,
							LIMIT);
				}
				return null;
			});
			requireUsable(pair);
		}
	}

	/**
	 * Deadlines pass while messages arrive: every message is received once, in order.
	 */
	@ParameterizedTest
	@EnumSource
	void everyMessageIsReceivedOnceAlthoughReceivesExpire(Kind kind) throws Exception {
		try (PointToPointPair pair = new PointToPointPair(kind)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				Random random = new Random(5 + rank);
				for (int i = 0; i < RACES; i++) {
					if (rank == 1) {
						LockSupport.parkNanos(random.nextInt(300_000));
						pair.engine(1).send(content(i, 100), DataType.INT8, 0, 0, LIMIT);
						continue;
					}
					MemorySegment received = buffer(100);
					while (!receives(pair.engine(0), received, Duration.ofNanos(1 + random.nextInt(200_000)))) {
						Arrays.fill((byte[]) received.heapBase().orElseThrow(), (byte) 0);
					}
					requireContent(received, i, 100);
				}
				return null;
			});
			requireUsable(pair);
		}
	}

	private static boolean receives(PointToPointEngine engine, MemorySegment buffer, Duration timeout) {
		try {
			engine.receive(buffer, DataType.INT8, 1, 0, timeout);
			return true;
		}
		catch (CollectiveTimeoutException ex) {
			return false;
		}
	}

	@ParameterizedTest
	@EnumSource
	void aSmallSendBeyondTheCreditCanBeCancelled(Kind kind) throws Exception {
		try (PointToPointPair pair = new PointToPointPair(kind, 1 << 16, LIMIT)) {
			PointToPointEngine sender = pair.engine(1);
			List<CompletableFuture<Message>> sends = new ArrayList<>();
			for (int i = 0; i < 100; i++) {
				sends.add(sender.sendAsync(content(i, 60_000), DataType.INT8, 0, 0, LIMIT));
			}
			await().atMost(LIMIT).until(() -> pair.engine(0).peek(1, 0, LIMIT) != null);
			int cancelled = sends.size() - 1;
			while (sends.get(cancelled).isDone()) {
				cancelled--;
			}
			assertThat(sender.cancel(sends.remove(cancelled))).isTrue();
			MemorySegment received = buffer(60_000);
			for (int i = 0; i < sends.size(); i++) {
				pair.engine(0).receive(received, DataType.INT8, 1, 0, LIMIT);
				requireContent(received, (i < cancelled) ? i : i + 1, 60_000);
			}
			CompletableFuture.allOf(sends.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
			assertThat(pair.engine(0).peek(1, 0, LIMIT)).isNull();
			requireUsable(pair);
		}
	}

}
