package io.tutti.engine.p2p;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.tutti.DataType;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.NoConnections;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A large message is read out of its sender's memory. */
class ReadMessageTest {

	private static final int BYTES = MessageOperation.SMALL_BYTES + 8;

	private final Arena arena = Arena.ofAuto();

	private final List<MessageOperation> completed = new ArrayList<>();

	private final BufferPool pool = new BufferPool(new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT));

	private final PeerChannels channels = new PeerChannels(2, new NoConnections(), this.pool, this::complete);

	private final GroupIdentity identity = GroupIdentity.world(0, 2, 0);

	private final MessageProtocol protocol = new MessageProtocol(this.identity,
			new MessageFailures(this.identity, new FailureLatch(), null), this.pool, this.channels, this::complete);

	private final MemorySegment source = this.arena.allocate(BYTES, 8).fill((byte) 7);

	private final Stream stream = new Stream();

	/**
	 * Announces the source, notes the kinds of the answers, and reads the source if the
	 * test permits it.
	 */
	private final class Stream extends AnnouncingStream {

		private final List<Integer> kinds = new ArrayList<>();

		private final List<Boolean> copied = new ArrayList<>();

		private boolean readable = true;

		private boolean preferred = true;

		Stream() {
			super(BYTES, 5, ReadMessageTest.this.source.address());
		}

		@Override
		public long write(long address, long bytes) {
			MemorySegment copy = ReadMessageTest.this.arena.allocate(Frame.BYTES, 8);
			NativeMemory.copy(address, copy.address(), Frame.BYTES);
			this.kinds.add(Frame.kind(copy.address()));
			return bytes;
		}

		@Override
		public boolean prefersCopy(long reference, long bytes) {
			return this.preferred;
		}

		@Override
		public void arrived(long reference, long bytes, boolean copied, long since) {
			assertThat(reference).isEqualTo(ReadMessageTest.this.source.address());
			assertThat(bytes).isEqualTo(BYTES);
			assertThat(System.nanoTime() - since).isBetween(0L, Duration.ofMinutes(1).toNanos());
			this.copied.add(copied);
		}

		@Override
		public void copyFromPeer(long reference, long address, long bytes) throws IOException {
			NativeMemory.copy(reference, address, bytes);
			if (!this.readable) {
				throw new IOException("the bytes may have changed");
			}
		}

	}

	private void complete(MessageOperation operation) {
		operation.end();
		this.completed.add(operation);
	}

	private MessageOperation receive() {
		MessageOperation receive = new MessageOperation(List.of(0, 1));
		receive.set(MessageOperation.Kind.RECEIVE, this.arena.allocate(BYTES, 8), DataType.INT8, 1, 5,
				Duration.ofMinutes(1).toNanos());
		this.protocol.start(receive);
		this.channels.arrived(1, this.stream);
		for (int i = 0; i < 3; i++) {
			this.channels.progress(1, this.protocol);
		}
		return receive;
	}

	@Test
	void theReceiveEndsWithTheReadAndTheSenderLearnsOfIt() {
		MessageOperation receive = receive();
		assertThat(this.completed).containsExactly(receive);
		assertThat(receive.buffer.toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
		assertThat(receive.message().count()).isEqualTo(BYTES);
		assertThat(this.stream.kinds).containsExactly(Frame.CREDIT, Frame.READ);
		assertThat(this.stream.copied).containsExactly(true);
	}

	@Test
	void aMessageIsSentWhereThatTakesLessTime() {
		this.stream.preferred = false;
		MessageOperation receive = receive();
		assertThat(this.stream.kinds).containsExactly(Frame.CREDIT, Frame.CTS);
		this.stream.send(this.source);
		this.channels.progress(1, this.protocol);
		assertThat(this.completed).containsExactly(receive);
		assertThat(receive.buffer.toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
		assertThat(this.stream.copied).containsExactly(false);
	}

	/** As after a failure of the sender, whose caller may have changed them. */
	@Test
	void bytesThatMayHaveChangedEndNoReceive() {
		this.stream.readable = false;
		MessageOperation receive = receive();
		assertThat(this.completed).isEmpty();
		assertThat(receive.movedBytes).isZero();
		assertThat(this.stream.copied).isEmpty();
		assertThat(this.stream.kinds).containsExactly(Frame.CREDIT, Frame.CTS);
	}

	/** Once an operation has ended, its caller may change the buffer. */
	@Test
	void peersLearnOfAFailureBeforeItsOperationsEnd() {
		List<Boolean> done = new ArrayList<>();
		MessageOperation[] sends = new MessageOperation[1];
		ProgressEngine engine = new ProgressEngine(GroupIdentity.world(0, 2, 0), new FailureLatch(),
				new NoConnections() {
					@Override
					public void announceFailure() {
						done.add(sends[0].done());
					}
				}, new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT));
		try (ProgressEngine.Locked _ = engine.enter()) {
			sends[0] = engine.begin(MessageOperation.Kind.SEND, this.source, DataType.INT8, 1, 5,
					Duration.ofMinutes(1).toNanos(), null);
		}
		engine.end(engine.failures().broken(new IllegalStateException("failed")));
		assertThat(done).containsExactly(false);
		assertThat(sends[0].done()).isTrue();
	}

	/** What a rank has sent before it leaves well can be trusted. */
	@Test
	void peersLearnOfNoFailureIfNoOperationFails() {
		List<Boolean> failures = new ArrayList<>();
		ProgressEngine engine = new ProgressEngine(GroupIdentity.world(0, 2, 0), new FailureLatch(),
				new NoConnections() {
					@Override
					public void announceFailure() {
						failures.add(true);
					}
				}, new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT));
		engine.close(false);
		assertThat(failures).isEmpty();
	}

}
