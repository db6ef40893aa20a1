package io.tutti.engine.backend.libmpi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.Message;
import io.tutti.engine.failure.DepartedRanks;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Departed ranks and the close of a group, with a library that completes nothing.
 */
@Timeout(20)
class LibMpiDepartureTest {

	/** Longer than the test, so that no failure ends this process. */
	private static final Duration GRACE_PERIOD = Duration.ofDays(1);

	private static final Duration LONG = Duration.ofSeconds(15);

	private final List<Failure> reported = new CopyOnWriteArrayList<>();

	private final GroupIdentity identity = GroupIdentity.world(0, 3, 0);

	private final FailureLatch latch = new FailureLatch();

	private final MpiCommunicator communicator = new MpiCommunicator(
			new MpiWorld(null, new MpiThread(null, 0), new MpiWorld.WorldView(0, 3, 32767)), 0);

	private final LibMpiMessages messages = new LibMpiMessages(this.identity, this.communicator, this.latch);

	LibMpiDepartureTest() {
		this.latch.reportTo(this.identity, this.reported::add, Duration.ofMillis(1));
		this.latch.onFailure(this.messages::wake);
	}

	@Test
	void aCallThatNeedsADepartedRankFails() {
		LibMpiGroupBackend backend = new LibMpiGroupBackend("mpi", this.identity, this.communicator, this.latch,
				GRACE_PERIOD);
		this.latch.departed().add(2, DepartedRanks.NONE_COMPLETED);
		Call call = new Call(3, null);
		call.deadline().restart(System.nanoTime(), LONG.toNanos());
		call.describe(0, Collective.BARRIER, 0, DataType.FLOAT32, null, 0);
		assertThatExceptionOfType(CollectiveException.class).isThrownBy(() -> backend.run(call))
			.withMessageContaining(this.latch.departed().describe(2))
			.satisfies((ex) -> assertThat(ex.failure().ranks()).containsExactly(2))
			.satisfies((ex) -> assertThat(ex.failure().kind()).isEqualTo(DepartedRanks.failureOf("world")));
	}

	@Test
	void aReceiveFromADepartedRankFails() {
		MpiMessage fromDeparted = receive(1);
		MpiMessage fromOther = receive(2);
		MpiMessage fromAny = receive(Message.ANY_SOURCE);
		this.latch.departed().add(1, DepartedRanks.NONE_COMPLETED);
		Awaitility.await().until(() -> this.latch.departed().isAbsentFor(1, Duration.ofMillis(500)));
		assertThat(this.messages.failureOf(fromOther)).isNull();
		assertThat(this.messages.failureOf(fromAny)).isNull();
		fromDeparted.inspect(null);
		assertThat(failureOf(fromDeparted.future()))
			.hasMessageContaining("receive from rank 1 with tag 7 (4 bytes of float32)")
			.hasMessageContaining(this.latch.departed().describe(1))
			.satisfies((ex) -> assertThat(ex.failure().ranks()).containsExactly(1));
		assertThat(this.reported).hasSize(1);
	}

	@Test
	void aReceiveFromAnyRankFailsOnceAllOthersHaveLeft() {
		MpiMessage fromAny = receive(Message.ANY_SOURCE);
		this.latch.departed().add(1, DepartedRanks.NONE_COMPLETED);
		this.latch.departed().add(2, DepartedRanks.NONE_COMPLETED);
		Awaitility.await().until(() -> this.latch.departed().isAbsentFor(2, Duration.ofMillis(500)));
		fromAny.inspect(null);
		assertThat(failureOf(fromAny.future())).hasMessageContaining("receive from any rank with tag 7")
			.hasMessageContaining(this.latch.departed().describe(1))
			.satisfies((ex) -> assertThat(ex.failure().ranks()).containsExactly(1, 2));
	}

	@Test
	void aCloseDuringAReceiveFailsItAndIsReported() {
		CompletableFuture<Message> receive = this.messages.receiveAsync(memory(), DataType.FLOAT32, 1, 7, LONG);
		this.messages.close();
		assertThat(failureOf(receive)).hasMessageContaining("this rank closed the group during a send or receive");
		assertThat(this.reported).singleElement()
			.satisfies((failure) -> assertThat(failure.ranks()).containsExactly(0));
		assertThat(this.latch.failure()).isEqualTo(this.reported.getFirst());
	}

	@Test
	void aRankThatLeavesTheJobDuringAReceiveReportsItSinceTheLibraryEndsTheJob() {
		CompletableFuture<Message> receive = this.messages.receiveAsync(memory(), DataType.FLOAT32, 1, 7, LONG);
		this.messages.leave();
		assertThat(failureOf(receive)).hasMessageContaining("this rank closed the group during a send or receive");
		assertThat(this.reported).singleElement().isEqualTo(this.latch.failure());
	}

	@Test
	void aCloseWithoutMessagesInProgressIsNoFailure() {
		this.messages.close();
		assertThat(this.reported).isEmpty();
		assertThat(this.latch.failure()).isNull();
	}

	private MpiMessage receive(int source) {
		return new MpiMessage(this.messages, false, memory(), DataType.FLOAT32, source, 7, Deadline.after(LONG), true);
	}

	private static MemorySegment memory() {
		return Arena.ofAuto().allocate(4, 4);
	}

	private static CollectiveException failureOf(CompletableFuture<Message> future) {
		return (CollectiveException) Awaitility.await()
			.until(() -> future.handle((_, ex) -> ex).getNow(null), (failure) -> failure != null);
	}

}
