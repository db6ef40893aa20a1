package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.GroupAbortedException;
import io.tutti.Message;
import io.tutti.engine.backend.PointToPointPair.Kind;
import io.tutti.engine.p2p.PointToPointEngine;
import io.tutti.engine.p2p.UnexpectedMessageBudget;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * A rank buffers unexpected messages within its budget. Messages beyond it stay with
 * their senders and delay no other message.
 */
@Timeout(60)
class UnexpectedMessagesTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final int KEPT_BYTES = 1 << 20;

	private static final int MESSAGE_BYTES = 60_000;

	private static final int LARGE_BYTES = 200_000;

	/** More than sender, connection and receiver buffer together. */
	private static final int MESSAGES = 200;

	/**
	 * More than the receiver buffers, and no more than a sender queues before it waits.
	 */
	private static final int QUEUED_MESSAGES = 55;

	private static MemorySegment content(Arena arena, int bytes, int sender, int number) {
		MemorySegment buffer = arena.allocate(bytes);
		buffer.set(ValueLayout.JAVA_INT, 0, sender);
		buffer.set(ValueLayout.JAVA_INT, bytes - 4, number);
		return buffer;
	}

	private static void receive(PointToPointPair pair, int rank, int tag, MemorySegment buffer, int bytes, int number) {
		assertThat(pair.engine(rank).receive(buffer, DataType.INT8, 1 - rank, tag, LIMIT)).isEqualTo(bytes);
		assertThat(buffer.get(ValueLayout.JAVA_INT, 0)).isEqualTo(1 - rank);
		assertThat(buffer.get(ValueLayout.JAVA_INT, bytes - 4)).isEqualTo(number);
	}

	/** Sends many small messages to rank 0 that it does not expect. */
	private static List<CompletableFuture<Message>> flood(PointToPointPair pair, int sender, Arena arena) {
		List<CompletableFuture<Message>> sends = new ArrayList<>();
		for (int i = 0; i < MESSAGES; i++) {
			sends.add(pair.engine(sender)
				.sendAsync(content(arena, MESSAGE_BYTES, sender, i), DataType.INT8, 1 - sender, 0, LIMIT));
		}
		return sends;
	}

	private static void awaitAll(List<? extends CompletableFuture<?>> open) throws Exception {
		CompletableFuture.allOf(open.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
	}

	@ParameterizedTest
	@EnumSource
	void sendsWaitUntilMessagesAreReceivedAndAllArriveInOrder(Kind kind) throws Exception {
		UnexpectedMessageBudget budget;
		try (PointToPointPair pair = new PointToPointPair(kind, KEPT_BYTES, LIMIT); Arena arena = Arena.ofShared()) {
			MemorySegment buffer = arena.allocate(MESSAGE_BYTES);
			budget = pair.unexpected(0);
			CompletableFuture<?> other = pair.engine(0).receiveAsync(buffer, DataType.INT8, 1, 7, LIMIT);
			List<CompletableFuture<Message>> sends = flood(pair, 1, arena);
			await().atMost(LIMIT).until(() -> budget.held() > KEPT_BYTES - 2 * 65_536);
			assertThat(sends).as("sends that wait").anyMatch((send) -> !send.isDone());
			MemorySegment received = arena.allocate(MESSAGE_BYTES);
			for (int i = 0; i < MESSAGES; i++) {
				receive(pair, 0, 0, received, MESSAGE_BYTES, i);
				assertThat(budget.held()).isLessThanOrEqualTo(KEPT_BYTES);
			}
			awaitAll(sends);
			assertThat(budget.held()).as("the credit of the peer").isLessThanOrEqualTo(KEPT_BYTES / 8);
			pair.engine(1).send(buffer.asSlice(0, 1), DataType.INT8, 0, 7, LIMIT);
			other.get(20, TimeUnit.SECONDS);
		}
		assertThat(budget.held()).as("after close").isZero();
	}

	@ParameterizedTest
	@EnumSource
	void floodsInBothDirectionsDelayNoRendezvousMessage(Kind kind) throws Exception {
		try (PointToPointPair pair = new PointToPointPair(kind, KEPT_BYTES, LIMIT); Arena arena = Arena.ofShared()) {
			List<List<Integer>> received = RankThreads.run(2, LIMIT, (rank) -> {
				List<CompletableFuture<Message>> sends = flood(pair, rank, arena);
				for (int tag = 1; tag < 4; tag++) {
					sends.add(pair.engine(rank)
						.sendAsync(content(arena, LARGE_BYTES, rank, tag), DataType.INT8, 1 - rank, tag, LIMIT));
				}
				sends.add(pair.engine(rank)
					.sendAsync(content(arena, MESSAGE_BYTES, rank, 4), DataType.INT8, 1 - rank, 4, LIMIT));
				MemorySegment buffer = arena.allocate(LARGE_BYTES);
				List<Integer> tags = new ArrayList<>();
				receive(pair, rank, 4, buffer, MESSAGE_BYTES, 4);
				for (int tag = 3; tag > 0; tag--) {
					receive(pair, rank, tag, buffer, LARGE_BYTES, tag);
					tags.add(tag);
				}
				assertThat(pair.unexpected(rank).held()).isLessThanOrEqualTo(KEPT_BYTES);
				for (int i = 0; i < MESSAGES; i++) {
					receive(pair, rank, 0, buffer, MESSAGE_BYTES, i);
				}
				awaitAll(sends);
				return tags;
			});
			assertThat(received).allSatisfy((tags) -> assertThat(tags).containsExactly(3, 2, 1));
		}
	}

	@ParameterizedTest
	@EnumSource
	void sendsBeyondTheCreditReturnBeforeTheyAreReceived(Kind kind) throws Exception {
		try (PointToPointPair pair = new PointToPointPair(kind, KEPT_BYTES, LIMIT); Arena arena = Arena.ofShared()) {
			RankThreads.run(2, LIMIT, (rank) -> {
				for (int i = 0; i < QUEUED_MESSAGES; i++) {
					pair.engine(rank)
						.send(content(arena, MESSAGE_BYTES, rank, i), DataType.INT8, 1 - rank, i % 3, LIMIT);
				}
				MemorySegment buffer = arena.allocate(MESSAGE_BYTES);
				for (int tag = 2; tag >= 0; tag--) {
					for (int i = tag; i < QUEUED_MESSAGES; i += 3) {
						receive(pair, rank, tag, buffer, MESSAGE_BYTES, i);
					}
				}
				return null;
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void aReceiveBehindAFloodEndsAloneAtItsDeadline(Kind kind) throws Exception {
		try (PointToPointPair pair = new PointToPointPair(kind, KEPT_BYTES, LIMIT); Arena arena = Arena.ofShared()) {
			List<CompletableFuture<Message>> sends = flood(pair, 1, arena);
			assertThatThrownBy(
					() -> pair.engine(0).receive(arena.allocate(1), DataType.INT8, 1, 7, Duration.ofMillis(700)))
				.isInstanceOf(CollectiveTimeoutException.class)
				.hasMessageContaining("receive from rank 1 with tag 7");
			MemorySegment buffer = arena.allocate(MESSAGE_BYTES);
			for (int i = 0; i < MESSAGES; i++) {
				receive(pair, 0, 0, buffer, MESSAGE_BYTES, i);
			}
			awaitAll(sends);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aCloseThatCannotSendQueuedMessagesFailsAndBreaksTheGroup(Kind kind) throws Exception {
		closeWithQueuedMessages(kind, false);
	}

	@ParameterizedTest
	@EnumSource
	void soDoesOneWithAReceiveInFlight(Kind kind) throws Exception {
		closeWithQueuedMessages(kind, true);
	}

	private static void closeWithQueuedMessages(Kind kind, boolean receiving) throws Exception {
		try (PointToPointPair pair = new PointToPointPair(kind, KEPT_BYTES, Duration.ofMillis(300))) {
			pair.resolveLocally(1);
			PointToPointEngine sender = pair.engine(1);
			MemorySegment buffer = MemorySegment.ofArray(new byte[MESSAGE_BYTES]);
			if (receiving) {
				sender.receiveAsync(MemorySegment.ofArray(new byte[1]), DataType.INT8, 0, 9, LIMIT);
			}
			for (int i = 0; i < QUEUED_MESSAGES; i++) {
				sender.send(buffer, DataType.INT8, 0, 0, LIMIT);
			}
			assertThatThrownBy(sender::close).isInstanceOf(GroupAbortedException.class)
				.hasMessageContaining("rank 1 closed the group with small sends to rank 0 still queued")
				.hasMessageMatching("(?s).*tutti\\.timeout\\.drain passed after ([3-9]\\d{2}|\\d{4,}) ms.*");
			assertThat(pair.failure(1)).as("the cause on the other ranks").isNotNull();
		}
	}

	@ParameterizedTest
	@EnumSource
	void emptyMessagesAreCharged(Kind kind) throws Exception {
		// Each message beyond the budget needs a turn of both threads, which a busy
		// machine
		// grants after milliseconds, and all sends share one deadline.
		int keptBytes = KEPT_BYTES / 8;
		try (PointToPointPair pair = new PointToPointPair(kind, keptBytes, LIMIT)) {
			UnexpectedMessageBudget budget = pair.unexpected(0);
			int more = 2 * keptBytes / 256;
			CompletableFuture<?> other = pair.engine(0)
				.receiveAsync(MemorySegment.ofArray(new byte[1]), DataType.INT8, 1, 7, LIMIT);
			List<CompletableFuture<Message>> sends = new ArrayList<>();
			for (int i = 0; i < more; i++) {
				sends.add(pair.engine(1).sendAsync(MemorySegment.NULL, DataType.INT8, 0, 0, LIMIT));
			}
			await().atMost(LIMIT).until(() -> budget.held() == keptBytes);
			for (int i = 0; i < more; i++) {
				pair.engine(0).receive(MemorySegment.NULL, DataType.INT8, 1, 0, LIMIT);
			}
			awaitAll(sends);
			assertThat(budget.held()).as("the credit of the peer").isLessThanOrEqualTo(keptBytes / 8);
			assertThat(other).isNotDone();
		}
	}

}
