package io.tutti.engine.control;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(30)
class FrameAssemblerTest {

	private final FrameAssembler frames = new FrameAssembler();

	@Test
	void framesAreCompleteForAnySplitOfTheStream() throws MalformedFrameException {
		Random random = new Random(3);
		List<ByteBuffer> sent = new ArrayList<>();
		ByteBuffer stream = ByteBuffer.allocate(2_000_000);
		for (int i = 0; i < 500; i++) {
			byte[] frame = new byte[1 + random.nextInt(4096)];
			random.nextBytes(frame);
			sent.add(ByteBuffer.wrap(frame));
			stream.putInt(frame.length).put(frame);
		}
		stream.flip();
		List<ByteBuffer> received = new ArrayList<>();
		while (stream.hasRemaining()) {
			int bytes = Math.min(stream.remaining(), random.nextInt(10_000));
			this.frames.append(stream.slice(stream.position(), bytes));
			stream.position(stream.position() + bytes);
			for (ByteBuffer frame = this.frames.next(); frame != null; frame = this.frames.next()) {
				byte[] copy = new byte[frame.remaining()];
				frame.get(copy);
				received.add(ByteBuffer.wrap(copy));
			}
		}
		assertThat(received).isEqualTo(sent);
	}

	@Test
	void aLengthOutOfRangeIsMalformedBeforeItsBytesArrive() {
		for (int length : new int[] { 0, -1, Integer.MIN_VALUE, FrameAssembler.MAX_BYTES + 1 }) {
			FrameAssembler fresh = new FrameAssembler();
			fresh.append(ByteBuffer.allocate(4).putInt(0, length));
			assertThatThrownBy(fresh::next).isInstanceOf(MalformedFrameException.class)
				.hasMessageContaining("" + length)
				.hasMessageContaining("1..16777216");
		}
	}

	@Test
	@Timeout(10)
	void aLongFrameInShortPartsIsNotCopiedForEachOfThem() throws MalformedFrameException {
		int length = FrameAssembler.MAX_BYTES;
		this.frames.append(ByteBuffer.allocate(4).putInt(0, length));
		ByteBuffer part = ByteBuffer.allocate(64);
		for (int received = 0; received < length; received += part.capacity()) {
			assertThat(this.frames.next()).isNull();
			this.frames.append(part.clear());
		}
		assertThat(this.frames.next().remaining()).isEqualTo(length);
	}

	@Test
	void aLongFrameIsAccepted() throws MalformedFrameException {
		int length = FrameAssembler.MAX_BYTES;
		this.frames.append(ByteBuffer.allocate(4).putInt(0, length));
		assertThat(this.frames.next()).isNull();
		this.frames.append(ByteBuffer.allocate(length));
		assertThat(this.frames.next().remaining()).isEqualTo(length);
		this.frames.append(ByteBuffer.allocate(4).putInt(0, length + 1));
		assertThatThrownBy(this.frames::next).isInstanceOf(MalformedFrameException.class);
	}

}
