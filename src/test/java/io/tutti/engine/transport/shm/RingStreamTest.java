package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import io.tutti.engine.transport.ByteStream;
import io.tutti.engine.transport.Connections;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

/**
 * Two ranks of one process, the second of which reads memory of the first.
 */
@Timeout(60)
class RingStreamTest {

	private static final int WORDS = 100_000;

	private static final long BYTES = (long) WORDS * Long.BYTES;

	private static final long FITTING = 100_000;

	/** More than until a trial, or until a choice is outdated. */
	private static final int MESSAGES = 1000;

	@TempDir
	private Path directory;

	private final Arena arena = Arena.ofConfined();

	private List<HostMemory> memories;

	private RingConnections sender;

	private RingConnections receiver;

	private boolean receiverStays = true;

	@BeforeEach
	void shareMemory() throws Exception {
		this.memories = HostPair.memories(new SharedMemorySettings(this.directory, "streams"));
		this.sender = new RingConnections(this.memories.get(0), List.of(0, 1), true);
		this.receiver = new RingConnections(this.memories.get(1), List.of(0, 1), true);
	}

	@AfterEach
	void close() {
		this.sender.close();
		this.receiver.close();
		this.memories.get(0).close();
		if (this.receiverStays) {
			this.memories.get(1).close();
		}
		this.arena.close();
	}

	private static ByteStream stream(RingConnections connections, int peer) {
		ByteStream[] found = new ByteStream[1];
		connections.dial(peer);
		connections.poll(new Connections.Handler() {
			@Override
			public void arrived(int from, ByteStream stream) {
				found[0] = stream;
			}

			@Override
			public void failed(int from, IOException cause) {
				throw new AssertionError(cause);
			}
		});
		return found[0];
	}

	private MemorySegment numbers() {
		MemorySegment numbers = this.arena.allocate(ValueLayout.JAVA_LONG, WORDS);
		for (int i = 0; i < WORDS; i++) {
			numbers.setAtIndex(ValueLayout.JAVA_LONG, i, 31L * i);
		}
		return numbers;
	}

	@Test
	void memoryOfAPeerIsRead() throws IOException {
		MemorySegment source = numbers();
		MemorySegment target = this.arena.allocate(BYTES);
		long reference = stream(this.sender, 1).reference(source.address(), BYTES);
		stream(this.receiver, 0).copyFromPeer(reference, target.address(), BYTES);
		assertThat(target.mismatch(source)).isEqualTo(-1);
	}

	/** A rank that reads cannot send meanwhile. */
	@Test
	void theLowerRankChoosesHowMessagesOfBothDirectionsAreMoved() {
		ByteStream lower = stream(this.sender, 1);
		ByteStream higher = stream(this.receiver, 0);
		long own = numbers().address();
		receiveByReading(lower, FITTING);
		receiveByReading(higher, FITTING);
		assertThat(lower.prefersCopy(own, FITTING)).isFalse();
		assertThat(lower.reference(own, FITTING)).isZero();
		assertThat(lower.prefersCopy(own, FITTING / 4)).isTrue();
		assertThat(lower.prefersCopy(-1, FITTING)).isTrue();
		assertThat(higher.reference(own, FITTING)).isEqualTo(own);
		assertThat(higher.prefersCopy(own, FITTING)).isTrue();
	}

	/** A request and its answer would cost context switches, as would a full ring. */
	@Test
	void largerMessagesAreEagerWhereRanksShareCoresIfTheRingHoldsThem() throws Exception {
		assertThat(stream(this.sender, 1).eagerBytes()).isEqualTo(128 * 1024);
		try (RingConnections enough = new RingConnections(this.memories.get(0), List.of(0, 1), false)) {
			assertThat(stream(enough, 1).eagerBytes()).isEqualTo(64 * 1024);
		}
		List<HostMemory> six = HostPair.memories(6, new SharedMemorySettings(this.directory, "six"));
		try (RingConnections smaller = new RingConnections(six.get(0), List.of(0, 1, 2, 3, 4, 5), true)) {
			assertThat(stream(smaller, 1).eagerBytes()).isEqualTo(64 * 1024);
		}
		six.forEach(HostMemory::close);
	}

	/** Each filling of the ring would cost context switches. */
	@Test
	void aMessageLargerThanTheRingIsReadWhereCoresAreFewerThanRanks() {
		ByteStream few = stream(this.sender, 1);
		receiveByReading(few, BYTES);
		assertThat(few.prefersCopy(1, BYTES)).isTrue();
		RingConnections enough = new RingConnections(this.memories.get(0), List.of(0, 1), false);
		ByteStream many = stream(enough, 1);
		receiveByReading(many, BYTES);
		assertThat(many.prefersCopy(1, BYTES)).isFalse();
		enough.close();
	}

	/** Nothing would measure the way in use any more. */
	@Test
	void aRankThatOnlySendsLetsItsPeerRead() {
		ByteStream lower = stream(this.sender, 1);
		long own = numbers().address();
		receiveByReading(lower, FITTING);
		assertThat(lower.reference(own, FITTING)).isZero();
		for (int i = 0; i < MESSAGES; i++) {
			lower.reference(own, FITTING);
		}
		assertThat(lower.reference(own, FITTING)).isEqualTo(own);
		lower.arrived(0, FITTING, false, System.nanoTime());
		lower.arrived(-1, FITTING, true, System.nanoTime());
		lower.arrived(1, FITTING / 4, true, System.nanoTime());
		assertThat(lower.reference(own, FITTING)).isEqualTo(own);
		lower.arrived(1, FITTING, true, System.nanoTime());
		assertThat(lower.reference(own, FITTING)).isZero();
	}

	/** Until a trial of the other way begins. */
	private static void receiveByReading(ByteStream stream, long bytes) {
		for (int i = 0; i < MESSAGES && stream.prefersCopy(1, bytes); i++) {
			stream.arrived(1, bytes, true, System.nanoTime());
			LockSupport.parkNanos(100_000);
		}
	}

	/** Its caller may have changed the buffer by then. */
	@Test
	void memoryOfAPeerWhoseCallHasFailedIsNotTrusted() {
		MemorySegment source = numbers();
		MemorySegment target = this.arena.allocate(BYTES);
		ByteStream reading = stream(this.receiver, 0);
		long reference = stream(this.sender, 1).reference(source.address(), BYTES);
		this.sender.announceFailure();
		assertThatIOException().isThrownBy(() -> reading.copyFromPeer(reference, target.address(), BYTES))
			.withMessageContaining("messages of the peer have failed");
	}

	/** A rank in a collective would wait for a verdict that need not come. */
	@Test
	void aFailureOfMessagesIsNoneOfCollectives() {
		this.sender.announceFailure();
		assertThat(this.memories.get(1).hasFailed(0, HostLayout.Line.MESSAGES_FAILED)).isTrue();
		assertThat(this.memories.get(1).hasFailed(0, HostLayout.Line.FAILED)).isFalse();
	}

	/** Otherwise the answer of a receiver that leaves at once would be lost. */
	@Test
	void whatAPeerSentBeforeItLeftIsReadBeforeAWriteFails() throws IOException {
		MemorySegment word = this.arena.allocate(ValueLayout.JAVA_LONG);
		ByteStream writing = stream(this.sender, 1);
		assertThat(stream(this.receiver, 0).write(word.address(), Long.BYTES)).isEqualTo(Long.BYTES);
		this.receiver.close();
		this.memories.get(1).close();
		this.receiverStays = false;
		assertThat(writing.write(word.address(), Long.BYTES)).isZero();
		assertThat(writing.read(word.address(), Long.BYTES)).isEqualTo(Long.BYTES);
		assertThatIOException().isThrownBy(() -> writing.write(word.address(), Long.BYTES))
			.withMessageContaining("the peer has left");
	}

}
