package io.tutti.engine.backend.libmpi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.Message;
import io.tutti.OwnThread;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.Transfer;
import io.tutti.engine.Timeouts;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.dispatch.GroupFactory;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupStateException;
import io.tutti.engine.spi.PointToPoint;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Calls on a library that fails or completes nothing.
 */
@Timeout(60)
class LibMpiFailureTest {

	/** Longer than the test, so that no failure ends this process. */
	private static final Duration GRACE_PERIOD = Duration.ofDays(1);

	private static final Duration SHORT = Duration.ofMillis(100);

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final Duration NEVER = Duration.ofDays(1);

	/** No verdict comes. */
	private static final Timeouts TIMEOUTS = new Timeouts(LIMIT, LIMIT, LIMIT, Duration.ofMillis(1), LIMIT);

	private static final Failure ABORTED = Failure.outside(Failure.Kind.ABORTED, "world", List.of(1), "by a test");

	private final List<Failure> reported = new CopyOnWriteArrayList<>();

	private final GroupIdentity identity = GroupIdentity.world(0, 2, 0);

	private final FailureLatch latch = new FailureLatch();

	private final ScriptedMpi library = new ScriptedMpi();

	private final MpiCommunicator communicator = this.library.world(2);

	private final LibMpiMessages messages = new LibMpiMessages(this.identity, this.communicator, this.latch);

	@AfterEach
	void endTheLibrarysThread() {
		this.library.unblock();
		this.communicator.world().close(Deadline.after(LIMIT));
	}

	@Test
	void aReceiveThatTheLibraryCannotWithdrawBreaksTheGroup() {
		this.latch.reportTo(this.identity, this.reported::add, Duration.ofMillis(1));
		this.library.answers("MPI_Cancel", 1);
		assertThat(this.messages.receiveAsync(memory(), DataType.FLOAT32, 1, 7, SHORT)).failsWithin(LIMIT)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(CollectiveException.class)
			.withMessageContaining("receive from rank 1 with tag 7")
			.withMessageContaining("MPI_Cancel failed with code 1")
			.havingCause()
			.isInstanceOf(MpiLibraryException.class);
		assertThat(this.latch.failure()).isNotNull();
	}

	@Test
	void aFailureIsReportedOnceThoughItsVerdictIsLate() {
		this.latch.reportTo(this.identity, this.reported::add, Duration.ofMillis(500));
		CompletableFuture<Message> send = this.messages.sendAsync(memory(), DataType.FLOAT32, 1, 7, SHORT);
		assertThat(send).failsWithin(LIMIT);
		assertThat(this.reported).hasSize(1);
	}

	@Test
	void startAllStartsNothingIfTheLibraryRefusesATag() {
		ProcessGroup group = group();
		List<Transfer> transfers = List.of(Transfer.send(memory(), DataType.FLOAT32, 1, 0),
				Transfer.send(memory(), DataType.FLOAT32, 1, Integer.MAX_VALUE));
		assertThatIllegalArgumentException().isThrownBy(() -> group.startAll(transfers))
			.withMessage("rank 0 of group world: send: tag must be in 0..4095 on the backend mpi, got 2147483647");
		assertThatIllegalArgumentException().isThrownBy(() -> group.tryProbe(1, 4096))
			.withMessageContaining("probe: tag must be in 0..4095");
		assertThat(this.messages.peek(1, 0, LIMIT)).isNull();
		assertThat(this.library.calls("MPI_Isend")).isZero();
	}

	@Test
	void theMemoryOfAFailedCollectiveStaysAllocated() {
		this.latch.reportTo(this.identity, this.reported::add, Duration.ofMillis(1));
		LibMpiGroupBackend backend = new LibMpiGroupBackend("mpi", this.identity, this.communicator, this.latch,
				GRACE_PERIOD);
		WeakReference<MemorySegment.Scope> memory = runUntilDeadline(backend);
		for (int i = 0; i < 5; i++) {
			System.gc();
		}
		assertThat(memory.get()).isNotNull();
		Reference.reachabilityFence(backend);
	}

	@Test
	void aGroupThatBreaksBetweenCallsEndsTheJob() {
		group();
		this.latch.trip(ABORTED);
		assertThat(this.communicator.world().fatalFailure()).isEqualTo(ABORTED);
	}

	@Test
	void aGroupThatIsBrokenWhenItFormsEndsTheJob() {
		this.latch.trip(ABORTED);
		group();
		assertThat(this.communicator.world().fatalFailure()).isEqualTo(ABORTED);
	}

	@Test
	void aReceiveEndsAtItsDeadlineWhileTheLibraryBlocks() {
		this.latch.reportTo(this.identity, this.reported::add, Duration.ofMillis(1));
		block();
		assertThatExceptionOfType(CollectiveTimeoutException.class)
			.isThrownBy(() -> this.messages.receive(memory(), DataType.FLOAT32, 1, 7, SHORT))
			.withMessageContaining("receive from rank 1 with tag 7");
		assertThat(this.latch.failure()).isNotNull();
	}

	@Test
	void anAsynchronousReceiveEndsAtItsDeadlineWhileTheLibraryBlocks() {
		this.latch.reportTo(this.identity, this.reported::add, Duration.ofMillis(1));
		block();
		assertThat(this.messages.receiveAsync(memory(), DataType.FLOAT32, 1, 7, SHORT)).failsWithin(LIMIT)
			.withThrowableThat()
			.withCauseInstanceOf(CollectiveTimeoutException.class)
			.withMessageContaining("receive from rank 1 with tag 7")
			.withMessageContaining("the MPI library does not answer");
		assertThat(this.latch.failure()).isNotNull();
	}

	@Test
	void aProbeThatDoesNotWaitForAMessageEndsWhileTheLibraryBlocks() {
		block();
		assertThatExceptionOfType(CollectiveTimeoutException.class).isThrownBy(() -> this.messages.peek(1, 7, SHORT))
			.withMessageContaining("probe for a message from rank 1 with tag 7: the MPI library does not answer");
		assertThat(this.latch.failure()).isNull();
	}

	@Test
	void aVerdictEndsAProbeThatDoesNotWaitForAMessageWhileTheLibraryBlocks() {
		block();
		CompletableFuture<Message> probe = CompletableFuture.supplyAsync(() -> this.messages.peek(1, 7, NEVER),
				OwnThread.EXECUTOR);
		this.latch.trip(ABORTED);
		assertThat(probe).failsWithin(LIMIT).withThrowableThat().withMessageContaining(ABORTED.detail());
	}

	@Test
	void aProbeEndsAtItsDeadlineWhileTheLibraryBlocks() {
		block();
		assertThatExceptionOfType(CollectiveTimeoutException.class).isThrownBy(() -> this.messages.probe(1, 7, SHORT))
			.withMessageContaining("probe for a message from rank 1 with tag 7");
		assertThat(this.latch.failure()).isNull();
	}

	@Test
	void aVerdictEndsMessagesWhileTheLibraryBlocks() {
		group();
		block();
		CompletableFuture<Message> receive = this.messages.receiveAsync(memory(), DataType.FLOAT32, 1, 7, NEVER);
		this.latch.trip(ABORTED);
		assertThat(receive).failsWithin(LIMIT).withThrowableThat().withMessageContaining(ABORTED.detail());
	}

	@Test
	void aMessageThatArrivesAfterItsReceiveHasFailedLeavesTheArrayAsItIs() {
		group();
		float[] array = { 3 };
		CompletableFuture<Message> receive = this.messages.receiveAsync(MemorySegment.ofArray(array), DataType.FLOAT32,
				1, 7, NEVER);
		this.latch.trip(ABORTED);
		assertThat(receive).failsWithin(LIMIT);
		requireUnchangedByALateMessage(array);
	}

	@Test
	void aMessageThatArrivesAfterAnInterruptLeavesTheArrayAsItIs() {
		this.latch.reportTo(this.identity, this.reported::add, Duration.ofMillis(1));
		float[] array = { 3 };
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(CollectiveException.class)
			.isThrownBy(() -> this.messages.receive(MemorySegment.ofArray(array), DataType.FLOAT32, 1, 7, NEVER))
			.withMessageContaining("the calling thread was interrupted in a receive from rank 1 with tag 7");
		assertThat(Thread.interrupted()).isTrue();
		requireUnchangedByALateMessage(array);
	}

	private void requireUnchangedByALateMessage(float[] array) {
		this.library.completes();
		Awaitility.await().until(() -> this.library.calls("MPI_Get_count") == 1);
		Awaitility.await().during(SHORT).until(() -> array[0] == 3);
	}

	@Test
	void aReceiveTakesTheMessageIntoItsArray() {
		float[] array = { 3 };
		this.library.completes();
		assertThat(this.messages.receive(MemorySegment.ofArray(array), DataType.FLOAT32, 1, 7, LIMIT)).isOne();
		// The library has written nothing into its own memory.
		assertThat(array).containsExactly(0);
	}

	@Test
	void aRefusedCallDoesNotChangeTheCallThatTheLibraryHasYetToStart() {
		ProcessGroup group = group();
		block();
		assertThatExceptionOfType(CollectiveTimeoutException.class)
			.isThrownBy(() -> group.withTimeout(SHORT).allReduce(memory(), DataType.FLOAT32, ReduceOp.SUM));
		assertThatExceptionOfType(CollectiveTimeoutException.class)
			.isThrownBy(() -> group.broadcast(memory(), DataType.FLOAT32, 1));
		this.library.unblock();
		this.communicator.world().close(Deadline.after(LIMIT));
		assertThat(this.library.calls("MPI_Iallreduce")).isEqualTo(1);
		assertThat(this.library.calls("MPI_Ibcast")).isZero();
	}

	@Test
	void anErrorOfTheLibraryInAMessageBreaksTheGroup() {
		this.latch.reportTo(this.identity, this.reported::add, Duration.ofMillis(1));
		this.library.answers("MPI_Isend", 15);
		assertThatExceptionOfType(CollectiveException.class)
			.isThrownBy(() -> this.messages.send(memory(), DataType.FLOAT32, 1, 7, LIMIT))
			.withMessageContaining("send to rank 1 with tag 7")
			.withCauseInstanceOf(MpiLibraryException.class);
		assertThat(this.latch.failure()).isNotNull();
	}

	@Test
	void aFailedReceiveNamesTheErrorOfTheLibrary() {
		this.latch.reportTo(this.identity, this.reported::add, Duration.ofMillis(1));
		this.library.answers("MPI_Test", 15);
		assertThatExceptionOfType(CollectiveException.class)
			.isThrownBy(() -> this.messages.receive(memory(), DataType.FLOAT32, 1, 7, LIMIT))
			.withMessageContaining("MPI_Test failed with code 15");
	}

	@Test
	void aSendWhoseBufferIsClosedBeforeItStartsBreaksTheGroupAndIsNotStarted() {
		this.latch.reportTo(this.identity, this.reported::add, Duration.ofMillis(1));
		block();
		CompletableFuture<Message> send;
		try (Arena arena = Arena.ofShared()) {
			send = this.messages.sendAsync(arena.allocate(4, 4), DataType.FLOAT32, 1, 7, NEVER);
		}
		this.library.unblock();
		assertBrokenByItsBuffer(send);
		assertThat(this.library.calls("MPI_Isend")).isZero();
	}

	@Test
	void aSendWhoseBufferIsClosedBeforeItEndsBreaksTheGroup() {
		this.latch.reportTo(this.identity, this.reported::add, Duration.ofMillis(1));
		CompletableFuture<Message> send;
		try (Arena arena = Arena.ofShared()) {
			send = this.messages.sendAsync(arena.allocate(4, 4), DataType.FLOAT32, 1, 7, NEVER);
			Awaitility.await().until(() -> this.library.calls("MPI_Isend") == 1);
		}
		this.library.completes();
		assertBrokenByItsBuffer(send);
	}

	private void assertBrokenByItsBuffer(CompletableFuture<Message> send) {
		assertThat(send).failsWithin(LIMIT)
			.withThrowableThat()
			.withCauseInstanceOf(CollectiveException.class)
			.withMessageContaining("send to rank 1 with tag 7")
			.withMessageContaining("buffer was closed: keep its arena open");
		assertThat(this.latch.failure()).isNotNull();
	}

	@Test
	void aReceiveWhoseBufferIsClosedBeforeItStartsFailsAloneAndIsNotStarted() {
		block();
		CompletableFuture<Message> receive;
		try (Arena arena = Arena.ofShared()) {
			receive = this.messages.receiveAsync(arena.allocate(4, 4), DataType.FLOAT32, Message.ANY_SOURCE, 7, NEVER);
		}
		this.library.unblock();
		assertFailsAlone(receive, "receive from any rank with tag 7");
		assertThat(this.library.calls("MPI_Irecv")).isZero();
	}

	@Test
	void aReceiveWhoseBufferIsClosedBeforeItsMessageArrivesFailsAlone() {
		CompletableFuture<Message> receive;
		try (Arena arena = Arena.ofShared()) {
			receive = this.messages.receiveAsync(arena.allocate(4, 4), DataType.FLOAT32, 1, 7, NEVER);
			Awaitility.await().until(() -> this.library.calls("MPI_Irecv") == 1);
		}
		this.library.completes();
		assertFailsAlone(receive, "receive from rank 1 with tag 7");
	}

	@Test
	void anErrorOfTheLibraryBreaksTheGroupAlsoIfTheBufferOfTheReceiveIsClosed() {
		this.latch.reportTo(this.identity, this.reported::add, Duration.ofMillis(1));
		CompletableFuture<Message> receive;
		try (Arena arena = Arena.ofShared()) {
			receive = this.messages.receiveAsync(arena.allocate(4, 4), DataType.FLOAT32, 1, 7, NEVER);
			Awaitility.await().until(() -> this.library.calls("MPI_Irecv") == 1);
		}
		this.library.answers("MPI_Test", 15).completes();
		assertThat(receive).failsWithin(LIMIT)
			.withThrowableThat()
			.withCauseInstanceOf(CollectiveException.class)
			.withMessageContaining("MPI_Test failed with code 15");
		assertThat(this.latch.failure()).isNotNull();
	}

	private void assertFailsAlone(CompletableFuture<Message> receive, String call) {
		assertThat(receive).failsWithin(LIMIT)
			.withThrowableThat()
			.withCauseInstanceOf(GroupStateException.class)
			.withMessageContaining("the buffer of a " + call)
			.withMessageContaining("was closed before it ended: keep its arena open");
		assertThat(this.latch.failure()).isNull();
	}

	/** Keeps the library's thread in a call. */
	private void block() {
		this.library.blocks("MPI_Comm_free");
		this.communicator.world().free(this.communicator);
	}

	private ProcessGroup group() {
		LibMpiGroupBackend backend = new LibMpiGroupBackend("mpi", this.identity, this.communicator, this.latch,
				GRACE_PERIOD);
		return new DefaultProcessGroup(this.identity, backend, this.latch, this.reported::add, TIMEOUTS,
				new GroupFactory() {
					@Override
					public PointToPoint pointToPoint(GroupIdentity identity, FailureLatch latch) {
						return LibMpiFailureTest.this.messages;
					}
				});
	}

	private static WeakReference<MemorySegment.Scope> runUntilDeadline(LibMpiGroupBackend backend) {
		MemorySegment buffer = memory();
		Call call = new Call(2, null);
		call.deadline().restart(System.nanoTime(), SHORT.toNanos());
		call.describe(0, Collective.BROADCAST, 1, DataType.FLOAT32, null, 0);
		call.place(buffer.address(), buffer.byteSize(), buffer.address(), buffer.byteSize());
		call.memory(buffer.scope(), buffer.scope());
		assertThatExceptionOfType(CollectiveException.class).isThrownBy(() -> backend.run(call));
		call.memory(null, null);
		return new WeakReference<>(buffer.scope());
	}

	private static MemorySegment memory() {
		return Arena.ofAuto().allocate(4, 4);
	}

}
