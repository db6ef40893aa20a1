package io.tutti.engine.p2p;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.tutti.DataType;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.ByteStream;
import io.tutti.engine.transport.NoConnections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A connection says up to which size a message is sent before its receiver asks for it.
 */
class EagerLimitTest {

	private final BufferPool pool = new BufferPool(new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT));

	private final PeerChannels channels = new PeerChannels(2, new NoConnections(), this.pool, MessageOperation::end);

	private final MessageProtocol protocol = new MessageProtocol(GroupIdentity.world(0, 2, 0), null, this.pool,
			this.channels, MessageOperation::end);

	private final List<Integer> kinds = new ArrayList<>();

	/** Takes every frame with its message at once, and notes the kind. */
	private final class Stream implements ByteStream {

		private final int eagerBytes;

		private long body;

		Stream(int eagerBytes) {
			this.eagerBytes = eagerBytes;
		}

		@Override
		public int eagerBytes() {
			return this.eagerBytes;
		}

		@Override
		public long write(long address, long bytes) {
			if (this.body == 0) {
				int kind = Frame.kind(address);
				EagerLimitTest.this.kinds.add(kind);
				this.body = Frame.BYTES + ((kind == Frame.EAGER) ? Frame.bytes(address) : 0);
			}
			this.body -= bytes;
			return bytes;
		}

		@Override
		public long read(long address, long bytes) {
			return 0;
		}

	}

	private void send(int bytes) {
		MessageOperation send = new MessageOperation(List.of(0, 1));
		send.set(MessageOperation.Kind.SEND, Arena.ofAuto().allocate(bytes), DataType.INT8, 1, 5,
				Duration.ofMinutes(1).toNanos());
		this.protocol.start(send);
	}

	@ParameterizedTest
	@CsvSource({ "1000, 1000", "65536, 65536", "131072, 131072", "1000000, 131072" })
	void aMessageBeyondTheLimitOfItsConnectionIsAnnounced(int ofConnection, int limit) {
		this.channels.arrived(1, new Stream(ofConnection));
		this.channels.channel(1).credit.returned(1 << 20);
		send(limit);
		send(limit + 1);
		assertThat(this.kinds).containsExactly(Frame.EAGER, Frame.RTS);
	}

	/** Before the receiver enlarges its window, a connection has the initial credit. */
	@Test
	void aMessageBeyondTheCreditIsAnnounced() {
		this.channels.arrived(1, new Stream(131_072));
		send(EagerCredit.INITIAL_BYTES + 1);
		send(EagerCredit.INITIAL_BYTES);
		assertThat(this.kinds).containsExactly(Frame.RTS, Frame.EAGER);
	}

}
