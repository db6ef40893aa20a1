package io.tutti.engine.p2p;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.GroupAbortedException;
import io.tutti.PeerLostException;
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
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * A connection for messages breaks alone: its ranks live, and the group is not broken.
 */
@Timeout(30)
class BrokenConnectionTest {

	private static final Duration LIMIT = Duration.ofSeconds(20);

	/** Later than any announcement of a departure. */
	private static final long LATER_NANOS = Duration.ofSeconds(6).toNanos();

	private static final int SMALL = 4096;

	/** Accepts and delivers as many bytes as the test allows, then breaks. */
	private static final class Stream implements ByteStream {

		private volatile long room = Long.MAX_VALUE;

		private final Queue<MemorySegment> arriving = new ConcurrentLinkedQueue<>();

		private volatile boolean ended;

		private boolean unread;

		private final List<Integer> kinds = new CopyOnWriteArrayList<>();

		/** The kind of a frame that causes an error. */
		private int refused = -1;

		/** As native memory for an unexpected message that cannot be had. */
		private volatile boolean exhausted;

		@Override
		public long write(long address, long bytes) throws IOException {
			requireOpen();
			if (bytes >= Frame.BYTES) {
				this.kinds.add(Frame.kind(address));
				if (Frame.kind(address) == this.refused) {
					throw new IllegalStateException("cannot write");
				}
			}
			long written = Math.min(bytes, this.room);
			this.room -= written;
			return written;
		}

		@Override
		public long read(long address, long bytes) throws IOException {
			if (this.exhausted) {
				throw new OutOfMemoryError("Cannot reserve direct buffer memory");
			}
			MemorySegment next = this.arriving.poll();
			if (next == null) {
				requireOpen();
				return 0;
			}
			NativeMemory.copy(next.address(), address, next.byteSize());
			return next.byteSize();
		}

		private void requireOpen() throws IOException {
			if (this.ended) {
				throw new EOFException("connection reset");
			}
		}

		@Override
		public void endInput() {
			this.unread = true;
		}

		void arrives(int kind, int tag) {
			MemorySegment frame = Arena.ofAuto().allocate(Frame.BYTES, 8);
			Frame.write(frame.address(), kind, DataType.INT8.ordinal(), 0, tag, 0, 0, 0);
			this.arriving.add(frame);
		}

	}

	private final List<Stream> streams = new ArrayList<>();

	private final class ToRankOne extends NoConnections {

		private int arrived;

		@Override
		public boolean poll(Handler handler) {
			boolean more = this.arrived < BrokenConnectionTest.this.streams.size();
			while (this.arrived < BrokenConnectionTest.this.streams.size()) {
				handler.arrived(1, BrokenConnectionTest.this.streams.get(this.arrived++));
			}
			return more;
		}

	}

	private final Stream stream = connection();

	private final FailureLatch latch = new FailureLatch();

	private final List<Failure> reports = new CopyOnWriteArrayList<>();

	private final GroupIdentity identity = GroupIdentity.world(0, 3, 0);

	private final UnexpectedMessageBudget budget = new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT);

	private final ProgressEngine engine = new ProgressEngine(this.identity, this.latch, new ToRankOne(), this.budget);

	private final ProgressThread thread = new ProgressThread("tutti-r0-test", this.engine, IdleStrategy.Limits.MESSAGE);

	BrokenConnectionTest() {
		this.latch.reportTo(this.identity, (failure) -> {
			this.reports.add(failure);
			this.latch.trip(failure);
		}, LIMIT);
	}

	private Stream connection() {
		Stream made = new Stream();
		this.streams.add(made);
		return made;
	}

	private MessageOperation begin(MessageOperation.Kind kind, int bytes, int peer, int tag) {
		try (ProgressEngine.Locked _ = this.engine.enter()) {
			return this.engine.begin(kind, Arena.ofAuto().allocate(bytes), DataType.INT8, peer, tag, LIMIT.toNanos(),
					null);
		}
	}

	private void advance() {
		IdleStrategy idle = new IdleStrategy(IdleStrategy.Limits.MESSAGE, this.thread);
		while (this.engine.step(idle, ProgressEngine.ALL)) {
			Thread.onSpinWait();
		}
	}

	private void loseAReturnedSend() {
		this.stream.room = 10;
		assertThat(begin(MessageOperation.Kind.SEND, SMALL, 1, 0).done()).isTrue();
		this.stream.ended = true;
		advance();
	}

	@Test
	void aReturnedSendThatIsLostWithItBreaksTheGroup() {
		loseAReturnedSend();
		this.thread.check(System.nanoTime());
		assertThat(this.reports).as("before its receiver can have left").isEmpty();
		this.thread.check(System.nanoTime() + LATER_NANOS);
		assertThat(this.reports).singleElement().satisfies((failure) -> {
			assertThat(failure.kind()).isEqualTo(Failure.Kind.PEER_LOST);
			assertThat(failure.ranks()).containsExactly(1);
			assertThat(failure.detail()).contains("connection reset")
				.contains("small sends of rank 0 to rank 1 are lost");
		});
		assertThat(this.engine.ended()).isTrue();
	}

	@Test
	void itDoesNotIfItsReceiverHasLeft() {
		loseAReturnedSend();
		this.latch.departed().add(1, 0);
		this.thread.check(System.nanoTime() + LATER_NANOS);
		assertThat(this.reports).isEmpty();
		assertThat(this.engine.ended()).isFalse();
	}

	@Test
	void aSendThatWasSentDoesNot() {
		assertThat(begin(MessageOperation.Kind.SEND, SMALL, 1, 0).done()).isTrue();
		this.stream.ended = true;
		advance();
		this.thread.check(System.nanoTime() + LATER_NANOS);
		assertThat(this.reports).isEmpty();
	}

	@Test
	void closingFailsIfAReturnedSendIsLost() {
		PointToPointEngine closing = engine(Duration.ofMillis(200));
		this.stream.room = 10;
		closing.send(Arena.ofAuto().allocate(SMALL), DataType.INT8, 1, 0, LIMIT);
		this.stream.ended = true;
		assertThatThrownBy(closing::close).isInstanceOf(GroupAbortedException.class)
			.hasMessageContaining("small sends to rank 1");
		assertThat(this.reports).hasSize(1);
	}

	@Test
	void closingDoesNotFailIfTheReceiverHasLeft() {
		PointToPointEngine closing = engine(LIMIT);
		this.stream.room = 10;
		closing.send(Arena.ofAuto().allocate(SMALL), DataType.INT8, 1, 0, LIMIT);
		this.latch.departed().add(1, 0);
		this.stream.ended = true;
		closing.close();
		assertThat(this.reports).isEmpty();
	}

	@Test
	void aReceiveFromAnyRankFails() {
		MessageOperation receive = begin(MessageOperation.Kind.RECEIVE, SMALL, Message.ANY_SOURCE, 0);
		this.stream.ended = true;
		advance();
		this.engine.failures().requireAlive(receive, System.nanoTime());
		assertThatThrownBy(() -> this.engine.failures().requireAlive(receive, System.nanoTime() + LATER_NANOS))
			.isInstanceOf(CollectiveException.class)
			.hasMessageContaining("connection reset")
			.satisfies((ex) -> assertThat(((CollectiveException) ex).failure().ranks()).containsExactly(1));
	}

	@Test
	void aReceiveFromAnyRankWaitsForTheOthersIfOneHasLeft() {
		MessageOperation receive = begin(MessageOperation.Kind.RECEIVE, SMALL, Message.ANY_SOURCE, 0);
		this.stream.ended = true;
		advance();
		this.latch.departed().add(1, 0);
		this.engine.failures().requireAlive(receive, System.nanoTime() + LATER_NANOS);
		assertThat(receive.done()).isFalse();
	}

	/** Of two connections, a rank sends on one. */
	@Test
	void aReceiveFailsIfTheConnectionOnWhichThePeerSendsEnds() {
		connection();
		this.stream.arrives(Frame.EAGER, 7);
		advance();
		this.stream.ended = true;
		MessageOperation receive = begin(MessageOperation.Kind.RECEIVE, SMALL, 1, 0);
		advance();
		assertThat(this.engine.channels().lost(receive, System.nanoTime())).isNotNull();
	}

	/** Bytes that nothing reads would end every sleep. */
	@Test
	void noInputOfALostPeerIsAwaited() {
		Stream idle = connection();
		this.stream.arrives(Frame.READ, 0);
		advance();
		assertThat(this.engine.channels().lost()).hasSize(1);
		assertThat(this.stream.unread).isTrue();
		assertThat(idle.unread).isTrue();
	}

	@Test
	void aReceiveWaitsIfTheOtherOneEnds() {
		Stream idle = connection();
		this.stream.arrives(Frame.EAGER, 7);
		advance();
		idle.ended = true;
		MessageOperation receive = begin(MessageOperation.Kind.RECEIVE, SMALL, 1, 0);
		advance();
		assertThat(this.engine.channels().lost(receive, System.nanoTime())).isNull();
	}

	/** The peer has left in order. What it sent before on its own connection counts. */
	@Test
	void anAnswerAndMessagesThatFollowTheEndOfTheOtherConnectionArrive() {
		MessageOperation send = begin(MessageOperation.Kind.SEND, MessageOperation.SMALL_BYTES + 1, 1, 0);
		Stream ofPeer = connection();
		ofPeer.arrives(Frame.EAGER, 1);
		ofPeer.arrives(Frame.RTS, 2);
		ofPeer.arrives(Frame.NACK, 0);
		ofPeer.arrives(Frame.EAGER, 3);
		ofPeer.ended = true;
		this.stream.ended = true;
		IdleStrategy idle = new IdleStrategy(IdleStrategy.Limits.MESSAGE, this.thread);
		this.engine.step(idle, ProgressEngine.ALL);
		this.engine.failures().requireAlive(send, System.nanoTime());
		advance();
		assertThat(send.done()).isTrue();
		assertThat(send.failure).isNull();
		assertThat(begin(MessageOperation.Kind.RECEIVE, SMALL, 1, 1).done()).isTrue();
		assertThat(begin(MessageOperation.Kind.RECEIVE, SMALL, 1, 3).done()).isTrue();
	}

	/** The peer has lost the other connection, too, and can send nothing more. */
	@Test
	void anAnswerIsAwaitedForATimeOnly() {
		MessageOperation send = begin(MessageOperation.Kind.SEND, MessageOperation.SMALL_BYTES + 1, 1, 0);
		connection();
		advance();
		this.stream.ended = true;
		advance();
		this.engine.failures().requireAlive(send, System.nanoTime());
		assertThatThrownBy(() -> this.engine.failures().requireAlive(send, System.nanoTime() + LATER_NANOS))
			.isInstanceOf(PeerLostException.class)
			.hasMessageContaining("connection reset");
	}

	/** No answer can arrive. */
	@Test
	void aSendWhoseAnnouncementIsNotSentFailsAtOnce() {
		connection();
		this.stream.room = 10;
		MessageOperation first = begin(MessageOperation.Kind.SEND, MessageOperation.SMALL_BYTES + 1, 1, 0);
		this.stream.ended = true;
		advance();
		MessageOperation second = begin(MessageOperation.Kind.SEND, MessageOperation.SMALL_BYTES + 1, 1, 0);
		assertThat(this.engine.channels().lost(first, System.nanoTime())).isNotNull();
		assertThat(this.engine.channels().lost(second, System.nanoTime())).isNotNull();
	}

	/**
	 * Its process may have ended. Its kernel would reset the connection and drop messages
	 * that it has yet to deliver.
	 */
	@Test
	void noCreditIsReturnedToARankThatHasLeft() {
		this.latch.departed().add(1, 0);
		this.stream.arrives(Frame.EAGER, 7);
		advance();
		assertThat(begin(MessageOperation.Kind.RECEIVE, SMALL, 1, 7).done()).isTrue();
		assertThat(this.stream.kinds).isEmpty();
	}

	@Test
	void creditIsReturnedToAnyOther() {
		this.latch.departed().add(2, 0);
		this.stream.arrives(Frame.EAGER, 7);
		advance();
		assertThat(this.stream.kinds).containsExactly(Frame.CREDIT);
	}

	/** A receiver that waits for this rank would be named otherwise. */
	@Test
	void closingDoesNotWaitForCreditThatIsReturned() {
		PointToPointEngine closing = engine(Duration.ofMillis(200));
		this.stream.room = 0;
		this.stream.arrives(Frame.EAGER, 0);
		closing.receive(Arena.ofAuto().allocate(SMALL), DataType.INT8, 1, 0, LIMIT);
		closing.close();
		assertThat(this.reports).isEmpty();
	}

	@Test
	void anAnswerThatIsNotSentIsNotCalledASend() {
		PointToPointEngine closing = engine(Duration.ofMillis(200));
		this.stream.room = 0;
		this.stream.arrives(Frame.RTS, 0);
		assertThat(closing.probe(1, 0, LIMIT).tag()).isZero();
		assertThatThrownBy(closing::close).isInstanceOf(GroupAbortedException.class)
			.hasMessageContaining("messages or answers to rank 1 still queued");
	}

	private PointToPointEngine engine(Duration drain) {
		return new PointToPointEngine(this.identity, this.latch, new ToRankOne(),
				new MessageSettings(false, drain, this.budget));
	}

	/** As an engine of TLS that has failed before. */
	@Test
	void aSendWhoseWithdrawalFailsEndsEverything() {
		PointToPointEngine sending = engine(LIMIT);
		this.stream.refused = Frame.CANCEL;
		MemorySegment large = Arena.ofAuto().allocate(MessageOperation.SMALL_BYTES + 1);
		assertThatThrownBy(() -> sending.send(large, DataType.INT8, 1, 0, Duration.ofMillis(50)))
			.isInstanceOf(GroupAbortedException.class)
			.hasMessageContaining("cannot write");
		assertThat(this.reports).hasSize(1);
		sending.close();
	}

	/** The peers would wait for this rank until their own deadlines. */
	@Test
	void anErrorBreaksTheGroupAlthoughNothingIsInFlight() {
		try (PointToPointEngine idle = engine(LIMIT)) {
			this.stream.exhausted = true;
			assertThat(this.latch.await(LIMIT)).isNotNull();
			assertThat(this.reports).singleElement()
				.satisfies((failure) -> assertThat(failure.detail()).contains("Cannot reserve direct buffer memory"));
			assertThatThrownBy(() -> idle.probe(1, 0, LIMIT)).isInstanceOf(GroupAbortedException.class);
		}
	}

	/** The engine's own thread may find it first; then the group is broken already. */
	@Test
	void anErrorWhileItIsClosedBreaksTheGroup() {
		PointToPointEngine closing = engine(LIMIT);
		this.stream.room = 10;
		closing.send(Arena.ofAuto().allocate(SMALL), DataType.INT8, 1, 0, LIMIT);
		this.stream.exhausted = true;
		Throwable thrown = catchThrowable(closing::close);
		if (thrown != null) {
			assertThat(thrown).isInstanceOf(GroupAbortedException.class);
		}
		assertThat(this.reports).isNotEmpty()
			.allSatisfy((failure) -> assertThat(failure.detail()).contains("Cannot reserve direct buffer memory"));
	}

}
