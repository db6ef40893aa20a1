package io.tutti.engine.p2p;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.tutti.DataType;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.ByteStream;
import io.tutti.engine.transport.NoConnections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A send whose peer has not even learnt of it is withdrawn without asking the peer, which
 * may be stopped.
 */
class WithdrawnSendTest {

	private static final int LARGE = MessageOperation.SMALL_BYTES + 1;

	private final List<MessageOperation> completed = new ArrayList<>();

	private final BufferPool pool = new BufferPool(new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT));

	private final PeerChannels channels = new PeerChannels(2, new NoConnections(), this.pool, this::complete);

	private final MessageProtocol protocol = new MessageProtocol(GroupIdentity.world(0, 2, 0), null, this.pool,
			this.channels, this::complete);

	private final Stream stream = new Stream();

	/** Takes as many bytes as the test allows, and notes the kinds of their frames. */
	private static final class Stream implements ByteStream {

		private final List<Integer> kinds = new ArrayList<>();

		private long allowed = Long.MAX_VALUE;

		private int eagerBytes = MessageOperation.SMALL_BYTES;

		private long body;

		@Override
		public long write(long address, long bytes) {
			long taken = Math.min(bytes, this.allowed);
			this.allowed -= taken;
			if (this.body == 0 && taken > 0) {
				MemorySegment copy = Arena.ofAuto().allocate(Frame.BYTES, 8);
				NativeMemory.copy(address, copy.address(), Frame.BYTES);
				this.kinds.add(Frame.kind(copy.address()));
				this.body = Frame.BYTES + ((Frame.kind(address) == Frame.EAGER) ? Frame.bytes(address) : 0);
			}
			this.body -= taken;
			return taken;
		}

		@Override
		public int eagerBytes() {
			return this.eagerBytes;
		}

		@Override
		public long read(long address, long bytes) {
			return 0;
		}

	}

	private void complete(MessageOperation operation) {
		operation.end();
		this.completed.add(operation);
	}

	private MessageOperation send(int bytes) {
		return send(Arena.ofAuto().allocate(bytes));
	}

	private MessageOperation send(MemorySegment buffer) {
		MessageOperation send = new MessageOperation(List.of(0, 1));
		send.set(MessageOperation.Kind.SEND, buffer, DataType.INT8, 1, 5, Duration.ofMinutes(1).toNanos());
		this.protocol.start(send);
		return send;
	}

	private void assertWithdrawnAlone(MessageOperation send) {
		RuntimeException why = new IllegalStateException("withdrawn");
		assertThat(this.protocol.withdraw(send, why)).isTrue();
		assertThat(this.completed).containsExactly(send);
		assertThat(send.withdrawn).isTrue();
		assertThat(send.failure).isSameAs(why);
		assertThat(this.channels.hasQueued()).isFalse();
		this.completed.clear();
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 249, MessageOperation.SMALL_BYTES, LARGE })
	void aSendBeforeTheConnectionIsWithdrawnAndNothingOfItIsSent(int bytes) {
		for (int i = 0; i < 100; i++) {
			assertWithdrawnAlone(send(bytes));
		}
		this.channels.arrived(1, this.stream);
		this.channels.progress(1, this.protocol);
		assertThat(this.stream.kinds).isEmpty();
		send(MessageOperation.SMALL_BYTES);
		assertThat(this.stream.kinds).as("with the credit of those before").containsExactly(Frame.EAGER);
		assertThat(this.completed).hasSize(1);
	}

	@Test
	void aSendWhoseAnnouncementWaitsBehindAnotherOneIsWithdrawn() {
		this.channels.arrived(1, this.stream);
		this.stream.allowed = 10;
		send(LARGE);
		MessageOperation second = send(LARGE);
		RuntimeException why = new IllegalStateException("withdrawn");
		assertThat(this.protocol.withdraw(second, why)).isTrue();
		assertThat(this.completed).containsExactly(second);
		this.stream.allowed = Long.MAX_VALUE;
		this.channels.progress(1, this.protocol);
		assertThat(this.stream.kinds).containsExactly(Frame.RTS);
	}

	@Test
	void theReceiverIsAskedOnceItMayKnowOfTheSend() {
		this.channels.arrived(1, this.stream);
		this.stream.allowed = 10;
		MessageOperation send = send(LARGE);
		assertThat(this.protocol.withdraw(send, new IllegalStateException("withdrawn"))).isTrue();
		assertThat(this.completed).isEmpty();
		assertThat(send.withdrawn).isFalse();
		this.stream.allowed = Long.MAX_VALUE;
		this.channels.progress(1, this.protocol);
		assertThat(this.stream.kinds).containsExactly(Frame.RTS, Frame.CANCEL);
	}

	/** Its caller cancels a send whose deadline has passed. */
	@Test
	void theLastReasonToWithdrawASendCounts() {
		this.channels.arrived(1, this.stream);
		MessageOperation send = send(LARGE);
		RuntimeException cancelled = new IllegalStateException("cancelled");
		this.protocol.withdraw(send, new IllegalStateException("deadline"));
		assertThat(this.protocol.withdraw(send, cancelled)).isTrue();
		assertThat(this.stream.kinds).containsExactly(Frame.RTS, Frame.CANCEL);
		assertThat(send.withdrawal).isSameAs(cancelled);
	}

	/** Question and answer queue behind other messages. */
	@Test
	void theTimeForTheAnswerCountsFromTheLastMove() {
		this.channels.arrived(1, this.stream);
		this.stream.allowed = 10;
		MessageOperation send = send(LARGE);
		long now = System.nanoTime();
		send.elapsedNanos(now);
		this.protocol.withdraw(send, new IllegalStateException("withdrawn"));
		PeerChannel peer = this.channels.channel(1);
		long late = now + send.timeoutNanos() + MessageOperation.WITHDRAWAL.toNanos();
		assertThat(send.remainingNanos(late)).isZero();
		assertThat(send.prolongWithdrawal(late, peer.moves())).isFalse();
		this.stream.allowed = Long.MAX_VALUE;
		this.channels.progress(1, this.protocol);
		assertThat(send.prolongWithdrawal(late, peer.moves())).isTrue();
		assertThat(send.remainingNanos(late)).isEqualTo(MessageOperation.WITHDRAWAL.toNanos());
		assertThat(send.prolongWithdrawal(late, peer.moves())).isFalse();
	}

	/** Its own bytes move then. */
	@Test
	void aMatchedSendHasNoMoreTime() {
		this.channels.arrived(1, this.stream);
		this.stream.allowed = 10;
		MessageOperation send = send(LARGE);
		this.protocol.withdraw(send, new IllegalStateException("withdrawn"));
		send.matched();
		this.stream.allowed = Long.MAX_VALUE;
		this.channels.progress(1, this.protocol);
		assertThat(send.prolongWithdrawal(System.nanoTime(), this.channels.channel(1).moves())).isFalse();
	}

	/** The receiver has granted memory for it, and need not match it. */
	@ParameterizedTest
	@ValueSource(ints = { 10, Frame.BYTES, 50_000 })
	void anEagerSendWhoseBytesHaveBegunToMoveIsCopiedAndSucceeds(int written) {
		this.stream.eagerBytes = MessageOperation.EAGER_BYTES;
		this.channels.arrived(1, this.stream);
		this.channels.channel(1).credit.returned(1 << 20);
		this.stream.allowed = written;
		MessageOperation send = send(LARGE);
		assertThat(this.completed).isEmpty();
		assertThat(this.protocol.withdraw(send, new IllegalStateException("withdrawn"))).isTrue();
		assertThat(this.completed).containsExactly(send);
		assertThat(send.withdrawn).isFalse();
		assertThat(send.failure).isNull();
		send.clear();
		this.stream.allowed = Long.MAX_VALUE;
		this.channels.progress(1, this.protocol);
		assertThat(this.stream.kinds).containsExactly(Frame.EAGER);
		assertThat(this.stream.body).isZero();
		assertThat(this.channels.hasQueued()).isFalse();
	}

	/** The memory is not read any more, which would end the process. */
	@Test
	void anEagerSendWhoseBufferIsClosedIsNotCopied() {
		this.stream.eagerBytes = MessageOperation.EAGER_BYTES;
		this.channels.arrived(1, this.stream);
		this.channels.channel(1).credit.returned(1 << 20);
		this.stream.allowed = Frame.BYTES + 10;
		MessageOperation send;
		try (Arena arena = Arena.ofShared()) {
			send = send(arena.allocate(MessageOperation.EAGER_BYTES));
		}
		assertThat(this.protocol.withdraw(send, new IllegalStateException("withdrawn"))).isFalse();
		assertThat(this.completed).isEmpty();
		assertThat(this.channels.lost(send, System.nanoTime())).isNotNull();
	}

}
