package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;

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
		this.sender = new RingConnections(this.memories.get(0), List.of(0, 1));
		this.receiver = new RingConnections(this.memories.get(1), List.of(0, 1));
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
