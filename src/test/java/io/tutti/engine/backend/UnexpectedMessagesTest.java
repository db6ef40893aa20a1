package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveListener;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.GroupAbortedException;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.p2p.MessageSettings;
import io.tutti.engine.p2p.PointToPointEngine;
import io.tutti.engine.p2p.UnexpectedMessageBudget;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.Connections;
import io.tutti.engine.transport.shm.HostHandshake;
import io.tutti.engine.transport.shm.LocalExchange;
import io.tutti.engine.transport.shm.RingConnections;
import io.tutti.engine.transport.shm.SharedMemorySettings;
import io.tutti.engine.transport.simulated.SimulatedConnections;
import io.tutti.engine.transport.simulated.SimulatedNetwork;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * A rank buffers unexpected messages within its budget, and reads no further message from
 * their senders beyond it.
 */
@Timeout(60)
class UnexpectedMessagesTest {

	enum Kind {

		SIMULATED, MEMORY

	}

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final int KEPT_BYTES = 1 << 20;

	private static final int MESSAGE_BYTES = 60_000;

	/** More than sender, connection and receiver buffer together. */
	private static final int MESSAGES = 200;

	/**
	 * More than the receiver buffers, and no more than a sender queues before it waits.
	 */
	private static final int QUEUED_MESSAGES = 55;

	private final UnexpectedMessageBudget unexpected = new UnexpectedMessageBudget(KEPT_BYTES);

	private Duration drain = LIMIT;

	private final List<FailureLatch> latches = List.of(new FailureLatch(), new FailureLatch());

	private final List<PointToPointEngine> messengers = new ArrayList<>();

	private void connect(Kind kind) throws Exception {
		LocalExchange exchange = new LocalExchange(2);
		SimulatedNetwork network = new SimulatedNetwork(2);
		this.messengers.addAll(RankThreads.run(2, LIMIT, (rank) -> {
			GroupIdentity identity = GroupIdentity.world(rank, 2, 0);
			FailureLatch latch = this.latches.get(rank);
			latch.reportTo(identity, latch::trip, Duration.ofMillis(1));
			return new PointToPointEngine(identity, latch, switch (kind) {
				case SIMULATED -> new SimulatedConnections(identity, network);
				case MEMORY -> overMemory(identity, exchange);
			}, new MessageSettings(true, this.drain,
					(rank == 0) ? this.unexpected : new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT)));
		}));
	}

	private static Connections overMemory(GroupIdentity identity, LocalExchange exchange) throws Exception {
		try (var memory = HostHandshake.establish(identity, exchange.rank(identity.rank()),
				SharedMemorySettings.of("unexpected"), CollectiveListener.NONE, Deadline.after(LIMIT))) {
			return new RingConnections(memory, memory.members());
		}
	}

	@AfterEach
	void close() {
		this.messengers.reversed().forEach(PointToPointEngine::close);
	}

	private List<CompletableFuture<Void>> flood(Arena arena) {
		List<CompletableFuture<Void>> sends = new ArrayList<>();
		for (int i = 0; i < MESSAGES; i++) {
			MemorySegment buffer = arena.allocate(MESSAGE_BYTES);
			buffer.set(ValueLayout.JAVA_INT, MESSAGE_BYTES - 4, i);
			sends.add(this.messengers.get(1).sendAsync(buffer, DataType.INT8, 0, 0, LIMIT));
		}
		return sends;
	}

	private void receiveAll(MemorySegment buffer) {
		for (int i = 0; i < MESSAGES; i++) {
			assertThat(this.messengers.get(0).receive(buffer, DataType.INT8, 1, 0, LIMIT)).isEqualTo(MESSAGE_BYTES);
			assertThat(buffer.get(ValueLayout.JAVA_INT, MESSAGE_BYTES - 4)).isEqualTo(i);
		}
	}

	@ParameterizedTest
	@EnumSource
	void sendsWaitUntilMessagesAreReceivedAndAllArriveInOrder(Kind kind) throws Exception {
		connect(kind);
		try (Arena arena = Arena.ofShared()) {
			MemorySegment buffer = arena.allocate(MESSAGE_BYTES);
			CompletableFuture<?> other = this.messengers.get(0).receiveAsync(buffer, DataType.INT8, 1, 7, LIMIT);
			List<CompletableFuture<Void>> sends = flood(arena);
			await().atMost(LIMIT).until(() -> this.unexpected.held() > KEPT_BYTES - 2 * 65_536);
			assertThat(sends).as("sends that wait").anyMatch((send) -> !send.isDone());
			receiveAll(arena.allocate(MESSAGE_BYTES));
			CompletableFuture.allOf(sends.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
			assertThat(this.unexpected.held()).isZero();
			this.messengers.get(1).send(buffer.asSlice(0, 1), DataType.INT8, 0, 7, LIMIT);
			other.get(20, TimeUnit.SECONDS);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aReceiveBlockedByTheBudgetEndsAtItsDeadlineAndNamesTheBudget(Kind kind) throws Exception {
		connect(kind);
		try (Arena arena = Arena.ofShared()) {
			flood(arena);
			assertThatThrownBy(() -> this.messengers.get(0)
				.receive(arena.allocate(1), DataType.INT8, 1, 7, Duration.ofMillis(700)))
				.isInstanceOf(CollectiveTimeoutException.class)
				.hasMessageContaining("receive from rank 1 with tag 7")
				.hasMessageContaining("fill the " + KEPT_BYTES + " bytes that this rank keeps")
				.hasMessageContaining("nothing more is read from rank 1");
			assertThat(this.unexpected.held()).as("after the failure").isZero();
			Failure verdict = this.latches.get(0).failure();
			assertThat(verdict).isNotNull();
			this.latches.get(1).trip(verdict);
			close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void aCloseThatCannotSendQueuedMessagesFailsAndBreaksTheGroup(Kind kind) throws Exception {
		this.drain = Duration.ofMillis(300);
		connect(kind);
		PointToPointEngine sender = this.messengers.get(1);
		MemorySegment buffer = MemorySegment.ofArray(new byte[MESSAGE_BYTES]);
		for (int i = 0; i < QUEUED_MESSAGES; i++) {
			sender.send(buffer, DataType.INT8, 0, 0, LIMIT);
		}
		assertThatThrownBy(sender::close).isInstanceOf(GroupAbortedException.class)
			.hasMessageContaining("rank 1 closed the group with small sends to rank 0 still queued")
			.hasMessageContaining("tutti.timeout.drain passed after 3");
		assertThat(this.latches.get(1).failure()).as("what the other ranks fail with").isNotNull();
	}

	@ParameterizedTest
	@EnumSource
	void emptyMessagesAreCharged(Kind kind) throws Exception {
		connect(kind);
		int more = 2 * KEPT_BYTES / 256;
		CompletableFuture<?> other = this.messengers.get(0)
			.receiveAsync(MemorySegment.ofArray(new byte[1]), DataType.INT8, 1, 7, LIMIT);
		List<CompletableFuture<Void>> sends = new ArrayList<>();
		for (int i = 0; i < more; i++) {
			sends.add(this.messengers.get(1).sendAsync(MemorySegment.NULL, DataType.INT8, 0, 0, LIMIT));
		}
		await().atMost(LIMIT).until(() -> this.unexpected.held() == KEPT_BYTES);
		for (int i = 0; i < more; i++) {
			this.messengers.get(0).receive(MemorySegment.NULL, DataType.INT8, 1, 0, LIMIT);
		}
		CompletableFuture.allOf(sends.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
		assertThat(this.unexpected.held()).isZero();
		assertThat(other).isNotDone();
	}

}
