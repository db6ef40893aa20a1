package io.tutti.engine.p2p;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.DataType;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.ByteStream;

/**
 * Any input is read as frames, each with no more bytes than an eager message may have, or
 * ends in an {@link IOException}. The first byte of the input gives the size of its
 * pieces.
 */
public final class MessageFramesReading {

	private MessageFramesReading() {
	}

	/** Reads an input; throws where the contract is violated. */
	public static void read(byte[] input) {
		FrameReader reader = new FrameReader(1, new Pieces(input),
				new BufferPool(new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT)));
		Frames frames = new Frames(new IncomingMessage(MessageOperation.EAGER_BYTES, false));
		try {
			while (reader.pump(frames)) {
				// The next frame is read.
			}
		}
		catch (IOException ex) {
			// The connection ends.
		}
	}

	private record Frames(IncomingMessage message) implements FrameReader.Handler {

		@Override
		public void frame(FrameReader reader, long frame) throws IOException {
			long bytes = Frame.bytes(frame);
			int kind = Frame.kind(frame);
			if (kind < Frame.EAGER || kind > Frame.READ || bytes < 0 || Frame.tag(frame) < 0
					|| Frame.credit(frame) < 0) {
				throw new AssertionError("not a frame: kind " + kind + ", " + bytes + " bytes, tag " + Frame.tag(frame)
						+ ", credit " + Frame.credit(frame));
			}
			if (kind == Frame.EAGER) {
				if (bytes > this.message.capacity) {
					throw new AssertionError("an eager message has " + bytes + " bytes");
				}
				this.message.set(1, Frame.tag(frame), DataType.INT8, bytes);
				reader.expect(this.message);
			}
			else if (kind == Frame.DATA) {
				throw new IOException("no data was announced");
			}
		}

		@Override
		public void body(IncomingMessage arrived) {
		}

	}

	/** A connection that delivers an input. */
	private static final class Pieces implements ByteStream {

		private final MemorySegment input;

		private final int piece;

		private long at;

		Pieces(byte[] input) {
			this.input = Arena.ofAuto().allocate(Math.max(1, input.length));
			MemorySegment.copy(MemorySegment.ofArray(input), 0, this.input, 0, input.length);
			this.piece = (input.length > 0) ? 1 + (input[0] & 0xff) : 1;
			this.at = Math.min(1, input.length);
		}

		@Override
		public long write(long address, long bytes) {
			throw new AssertionError("the reader must not write");
		}

		@Override
		public long read(long address, long bytes) throws IOException {
			long got = Math.min(Math.min(bytes, this.piece), this.input.byteSize() - this.at);
			if (got == 0) {
				throw new EOFException("the input ends");
			}
			NativeMemory.copy(this.input.address() + this.at, address, got);
			this.at += got;
			return got;
		}

	}

}
