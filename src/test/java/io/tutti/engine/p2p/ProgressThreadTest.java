package io.tutti.engine.p2p;

import java.io.EOFException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

import io.tutti.CollectiveException;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.ByteStream;
import io.tutti.engine.transport.IdleStrategy;
import io.tutti.engine.transport.NoConnections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(30)
class ProgressThreadTest {

	private static final int LARGE_BYTES = 100_000;

	private static final Duration LIMIT = Duration.ofSeconds(20);

	/** A connection to the other rank, which accepts bytes while it is open. */
	private static final class Gate extends NoConnections implements ByteStream {

		private final Queue<MemorySegment> arriving = new ArrayDeque<>();

		private boolean dialed;

		private boolean open = true;

		private boolean prepared;

		private final List<String> awaited = new ArrayList<>();

		private boolean ended;

		@Override
		public void awaitPeers(BitSet peers) {
			this.awaited.add(peers.toString());
		}

		@Override
		public void prepareSleep(int awaited) {
			this.prepared = true;
		}

		@Override
		public void dial(int peer) {
			this.dialed = true;
		}

		@Override
		public boolean poll(Handler handler) {
			boolean connects = this.dialed;
			this.dialed = false;
			if (connects) {
				handler.arrived(1, this);
			}
			return connects;
		}

		@Override
		public long write(long address, long bytes) {
			return this.open ? bytes : 0;
		}

		@Override
		public long read(long address, long bytes) throws EOFException {
			MemorySegment frame = this.arriving.poll();
			if (frame == null && this.ended) {
				throw new EOFException("closed by the peer");
			}
			if (frame == null) {
				return 0;
			}
			NativeMemory.copy(frame.address(), address, Frame.BYTES);
			return Frame.BYTES;
		}

		void answer(int kind, long id) {
			MemorySegment frame = Arena.ofAuto().allocate(Frame.BYTES);
			Frame.write(frame.address(), kind, 0, 0, 0, id, 0, 0);
			this.arriving.add(frame);
		}

	}

	private final Gate gate = new Gate();

	private final FailureLatch latch = new FailureLatch();

	private final ProgressEngine engine = new ProgressEngine(GroupIdentity.world(0, 2, 0), this.latch, this.gate,
			new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT));

	private final ProgressThread thread = new ProgressThread("tutti-r0-test", this.engine, IdleStrategy.Limits.MESSAGE);

	@Test
	void aSendThatExpiresMayCompleteOthers() {
		CompletableFuture<Message> first = send(1, LIMIT);
		CompletableFuture<Message> second = send(2, LIMIT);
		CompletableFuture<Message> unmatched = send(3, Duration.ofMillis(100));
		this.gate.open = false;
		this.gate.answer(Frame.CTS, 0);
		this.gate.answer(Frame.CTS, 1);
		advance();
		this.gate.open = true;
		this.thread.check(System.nanoTime() + Duration.ofSeconds(1).toNanos());
		assertThat(first).succeedsWithin(LIMIT);
		assertThat(second).succeedsWithin(LIMIT);
		assertThat(unmatched).isNotDone();
		this.gate.answer(Frame.CANCELLED, 2);
		advance();
		assertThat(unmatched).failsWithin(LIMIT)
			.withThrowableThat()
			.withCauseInstanceOf(CollectiveTimeoutException.class);
		assertThat(this.engine.ended()).isFalse();
	}

	/** A receiver that has read the message may leave before the sender learns of it. */
	@Test
	void aSendWhoseReceiverHasLeftStillGetsItsAnswer() {
		CompletableFuture<Message> send = send(1, LIMIT);
		this.latch.departed().add(1, 0);
		this.thread.check(System.nanoTime());
		assertThat(send).isNotDone();
		this.gate.answer(Frame.READ, 0);
		this.gate.ended = true;
		advance();
		assertThat(send).succeedsWithin(LIMIT);
		assertThat(this.engine.ended()).isFalse();
	}

	@Test
	void aSendFailsOnceItsReceiverHasLeftWithoutAnAnswer() {
		MessageOperation send;
		try (ProgressEngine.Locked _ = this.engine.enter()) {
			send = this.engine.begin(MessageOperation.Kind.SEND, Arena.ofAuto().allocate(LARGE_BYTES), DataType.INT8, 1,
					5, LIMIT.toNanos(), null);
		}
		this.latch.departed().add(1, 0);
		this.engine.failures().requireAlive(send, System.nanoTime());
		this.gate.ended = true;
		advance();
		assertThatThrownBy(() -> this.engine.failures().requireAlive(send, System.nanoTime()))
			.isInstanceOf(CollectiveException.class)
			.hasMessageContaining("closed by the peer");
	}

	/** Its peers would ring the bell of a rank that does not sleep. */
	@Test
	void aThreadWhoseOperationIsDoneDoesNotPrepareToSleep() {
		MessageOperation operation;
		try (ProgressEngine.Locked _ = this.engine.enter()) {
			operation = this.engine.begin(MessageOperation.Kind.SEND, Arena.ofAuto().allocate(LARGE_BYTES),
					DataType.INT8, 1, 0, LIMIT.toNanos(), null);
		}
		this.engine.sleep(1, operation);
		assertThat(this.gate.prepared).isTrue();
		this.gate.answer(Frame.CTS, 0);
		advance();
		assertThat(operation.done()).isTrue();
		this.gate.prepared = false;
		this.engine.sleep(1, operation);
		assertThat(this.gate.prepared).isFalse();
	}

	/**
	 * Whichever operation the sleeping thread waits for. One that waits for any rank
	 * would ask all hosts of a large job.
	 */
	@Test
	void aSleepWatchesThePeersThatOperationsName() {
		this.engine.sleep(1, null);
		send(0, LIMIT);
		this.engine.sleep(1, null);
		try (ProgressEngine.Locked _ = this.engine.enter()) {
			this.engine.begin(MessageOperation.Kind.PROBE, MemorySegment.NULL, DataType.INT8, Message.ANY_SOURCE, 0,
					LIMIT.toNanos(), new CompletableFuture<>());
		}
		this.engine.sleep(1, null);
		assertThat(this.gate.awaited).containsExactly("{}", "{1}", "{1}");
	}

	private CompletableFuture<Message> send(int tag, Duration timeout) {
		CompletableFuture<Message> future = new CompletableFuture<>();
		try (ProgressEngine.Locked _ = this.engine.enter()) {
			this.engine.begin(MessageOperation.Kind.SEND, Arena.ofAuto().allocate(LARGE_BYTES), DataType.INT8, 1, tag,
					timeout.toNanos(), future);
		}
		return future;
	}

	private void advance() {
		IdleStrategy idle = new IdleStrategy(IdleStrategy.Limits.MESSAGE, this.thread);
		while (this.engine.step(idle, ProgressEngine.ALL)) {
			Thread.onSpinWait();
		}
	}

}
