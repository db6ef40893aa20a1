package io.tutti.engine.p2p;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.tutti.DataType;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.ByteStream;
import io.tutti.engine.transport.NoConnections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A buffer is closed in the middle of its message: no byte of it is touched any more. */
@Timeout(30)
class ClosedBufferTest {

	private static final int BYTES = 100_000;

	private static final int FIRST_BYTES = 20_000;

	/**
	 * Moves a frame and the first bytes after it, then as many bytes as the test allows.
	 */
	private static class StuckStream implements ByteStream {

		final MemorySegment frame = Arena.ofAuto().allocate(Frame.BYTES);

		long allowed = Frame.BYTES + FIRST_BYTES;

		long moved;

		@Override
		public long write(long address, long bytes) {
			return move(bytes);
		}

		@Override
		public long read(long address, long bytes) {
			if (this.moved > 0) {
				return move(bytes);
			}
			NativeMemory.copy(this.frame.address(), address, Frame.BYTES);
			return move(Frame.BYTES);
		}

		long move(long bytes) {
			long now = Math.min(bytes, this.allowed - this.moved);
			this.moved += now;
			return now;
		}

	}

	/** Moves all bytes at once, and then the buffer is closed. */
	private final class ClosingStream extends StuckStream {

		ClosingStream() {
			this.allowed = Long.MAX_VALUE;
		}

		@Override
		long move(long bytes) {
			if (this.moved + bytes == Frame.BYTES + BYTES) {
				ClosedBufferTest.this.arena.close();
			}
			return super.move(bytes);
		}

	}

	private StuckStream stream = new StuckStream();

	private final BufferPool pool = new BufferPool(new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT));

	private final Arena arena = Arena.ofShared();

	private MessageOperation operation(MessageOperation.Kind kind) {
		MessageOperation operation = new MessageOperation(List.of(0, 1));
		operation.set(kind, this.arena.allocate(BYTES), DataType.INT8, 1, 5, Duration.ofMinutes(1).toNanos());
		return operation;
	}

	private void closeAndUnblock() {
		assertThat(this.stream.moved).isEqualTo(Frame.BYTES + FIRST_BYTES);
		this.arena.close();
		this.stream.allowed = Long.MAX_VALUE;
	}

	private SendQueue sending(List<SendDescriptor> sent) {
		SendDescriptor descriptor = new SendDescriptor();
		descriptor.kind = Frame.DATA;
		descriptor.bytes = BYTES;
		descriptor.carry(operation(MessageOperation.Kind.SEND));
		SendQueue queue = new SendQueue(sent::add, this.pool, new EagerCredit());
		queue.connect(this.stream);
		queue.add(descriptor);
		return queue;
	}

	@Test
	void noFurtherByteOfItIsSent() throws IOException {
		SendQueue queue = sending(new ArrayList<>());
		queue.pump();
		closeAndUnblock();
		assertThatThrownBy(queue::pump).isInstanceOf(IOException.class)
			.hasMessageContaining("buffer of a send to rank 1 with tag 5")
			.hasMessageContaining("was closed");
		assertThat(this.stream.moved).isEqualTo(Frame.BYTES + FIRST_BYTES);
	}

	@Test
	void aSendWhoseLastBytesMayHaveChangedDoesNotSucceed() {
		this.stream = new ClosingStream();
		List<SendDescriptor> sent = new ArrayList<>();
		SendQueue queue = sending(sent);
		assertThatThrownBy(queue::pump).isInstanceOf(IOException.class).hasMessageContaining("was closed");
		assertThat(this.stream.moved).isEqualTo(Frame.BYTES + BYTES);
		assertThat(sent).isEmpty();
	}

	private FrameReader.Handler receiving(List<IncomingMessage> bodies) {
		MessageOperation receive = operation(MessageOperation.Kind.RECEIVE);
		Frame.write(this.stream.frame.address(), Frame.DATA, DataType.INT8.ordinal(), BYTES, 5, 0, 0, 0);
		return new FrameReader.Handler() {
			@Override
			public void frame(FrameReader from, long frame) {
				IncomingMessage message = from.direct;
				message.set(1, 5, DataType.INT8, BYTES);
				message.receiveInto(receive);
				from.expect(message);
			}

			@Override
			public void body(IncomingMessage message) {
				bodies.add(message);
			}
		};
	}

	@Test
	void aReceiveIntoABufferThatIsClosedWithItsLastBytesDoesNotSucceed() {
		this.stream = new ClosingStream();
		List<IncomingMessage> bodies = new ArrayList<>();
		FrameReader.Handler handler = receiving(bodies);
		FrameReader reader = new FrameReader(1, this.stream, this.pool);
		assertThatThrownBy(() -> reader.pump(handler)).isInstanceOf(IOException.class)
			.hasMessageContaining("was closed");
		assertThat(this.stream.moved).isEqualTo(Frame.BYTES + BYTES);
		assertThat(bodies).isEmpty();
		assertThat(reader.receiver()).isNotNull();
	}

	@Test
	void aMessageReadIntoABufferThatIsClosedDuringItDoesNotSucceed() {
		List<MessageOperation> completed = new ArrayList<>();
		PeerChannels channels = new PeerChannels(2, new NoConnections(), this.pool, completed::add);
		GroupIdentity identity = GroupIdentity.world(0, 2, 0);
		MessageProtocol protocol = new MessageProtocol(identity,
				new MessageFailures(identity, new FailureLatch(), null), this.pool, channels, completed::add);
		MessageOperation receive = operation(MessageOperation.Kind.RECEIVE);
		protocol.start(receive);
		channels.arrived(1, new AnnouncingStream(BYTES, 5, 1) {
			@Override
			public void copyFromPeer(long reference, long address, long bytes) {
				ClosedBufferTest.this.arena.close();
			}
		});
		while (channels.progress(1, protocol)) {
			Thread.onSpinWait();
		}
		assertThat(completed).isEmpty();
		assertThat(channels.lost(receive, System.nanoTime())).isNotNull();
	}

	@Test
	void noFurtherByteIsReceivedIntoIt() throws IOException {
		FrameReader.Handler handler = receiving(new ArrayList<>());
		FrameReader reader = new FrameReader(1, this.stream, this.pool);
		reader.pump(handler);
		closeAndUnblock();
		assertThatThrownBy(() -> reader.pump(handler)).isInstanceOf(IOException.class)
			.hasMessageContaining("buffer of a receive from rank 1 with tag 5")
			.hasMessageContaining("was closed");
		assertThat(this.stream.moved).isEqualTo(Frame.BYTES + FIRST_BYTES);
	}

	/** A reader ends all of them while it is one of two. */
	@Test
	void theReadingOfASendWhoseBufferWasClosedEndsBothConnections() {
		PeerChannels channels = new PeerChannels(2, new NoConnections(), this.pool, (operation) -> {
		});
		MessageProtocol protocol = new MessageProtocol(GroupIdentity.world(0, 2, 0), null, this.pool, channels,
				(operation) -> {
				});
		StuckStream answering = new StuckStream();
		answering.allowed = Frame.BYTES;
		Frame.write(answering.frame.address(), Frame.READ, 0, 0, 0, 0, 0, 0);
		this.stream.moved = Frame.BYTES;
		channels.arrived(1, this.stream);
		channels.arrived(1, answering);
		MessageOperation send = operation(MessageOperation.Kind.SEND);
		protocol.start(send);
		this.arena.close();
		channels.progress(1, protocol);
		assertThat(channels.lost(send, System.nanoTime())).isNotNull();
		assertThat(channels.connected(1)).isFalse();
	}

}
