package io.tutti.engine.p2p;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.tutti.DataType;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.ByteStream;
import io.tutti.engine.transport.NoConnections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A rank receives a large message that never pauses. The others must not wait for its
 * end: they may need an answer in time.
 */
@Timeout(60)
class PeerFairnessTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final long BYTES = 100 * PeerChannel.COPY_BYTES;

	private static final int SENDER = 1;

	private static final int OTHER = 2;

	/** The thread of the call; the group has another one. */
	private Thread receiver;

	private final AtomicInteger looksAtOther = new AtomicInteger();

	/** Looks at the other rank since the first bytes of the large message. */
	private int looksSince = -1;

	private final class Sender extends AnnouncingStream {

		Sender() {
			super(BYTES, 0, 1);
		}

		@Override
		public void copyFromPeer(long reference, long address, long bytes) {
			PeerFairnessTest test = PeerFairnessTest.this;
			if (reference == 1) {
				test.looksAtOther.set(0);
			}
			test.looksSince = test.looksAtOther.get();
		}

	}

	private final class Other implements ByteStream {

		@Override
		public long write(long address, long bytes) {
			return bytes;
		}

		@Override
		public long read(long address, long bytes) {
			if (Thread.currentThread() == PeerFairnessTest.this.receiver) {
				PeerFairnessTest.this.looksAtOther.incrementAndGet();
			}
			return 0;
		}

	}

	private final class TwoPeers extends NoConnections {

		private boolean arrived;

		@Override
		public boolean poll(Handler handler) {
			if (this.arrived) {
				return false;
			}
			this.arrived = true;
			handler.arrived(SENDER, new Sender());
			handler.arrived(OTHER, new Other());
			return true;
		}

	}

	@Test
	void othersAreLookedAtWhileALargeMessageMoves() {
		PointToPointEngine engine = new PointToPointEngine(GroupIdentity.world(0, 3, 0), new FailureLatch(),
				new TwoPeers(),
				new MessageSettings(false, LIMIT, new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT)));
		this.receiver = Thread.currentThread();
		try {
			engine.receive(untouched(), DataType.INT8, SENDER, 0, LIMIT);
		}
		finally {
			engine.close();
		}
		assertThat(this.looksSince).isPositive();
	}

	@SuppressWarnings("restricted")
	private static MemorySegment untouched() {
		return MemorySegment.ofAddress(8).reinterpret(BYTES);
	}

}
