package io.tutti.engine.control;

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

/**
 * Splits a byte stream into frames. Memory grows with the received bytes, never with the
 * length that a peer claims.
 */
final class FrameAssembler {

	/** Maximum frame size: a roster of about 200 000 ranks. */
	static final int MAX_BYTES = 16 << 20;

	private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

	/** Received bytes that are not consumed, from position to limit. */
	private ByteBuffer pending = NOTHING;

	/** Appends received bytes. The caller should have taken all frames before. */
	void append(ByteBuffer bytes) {
		if (this.pending.capacity() - this.pending.limit() < bytes.remaining()) {
			makeRoom(this.pending.remaining() + bytes.remaining());
		}
		int end = this.pending.limit();
		this.pending.limit(end + bytes.remaining()).put(end, bytes, bytes.position(), bytes.remaining());
	}

	/** Copies only now and then: a long frame arrives in many parts. */
	private void makeRoom(int total) {
		if (this.pending.capacity() < total) {
			ByteBuffer larger = ByteBuffer.allocate(Math.max(total, 2 * this.pending.remaining()));
			this.pending = larger.put(this.pending).flip();
		}
		else {
			this.pending.compact().flip();
		}
	}

	/**
	 * The next frame without its length, or {@code null} if it is incomplete.
	 * @throws MalformedFrameException if its length is out of range
	 */
	@Nullable ByteBuffer next() throws MalformedFrameException {
		if (this.pending.remaining() < Integer.BYTES) {
			return releaseIfEmpty();
		}
		int length = this.pending.getInt(this.pending.position());
		if (length < 1 || length > MAX_BYTES) {
			throw new MalformedFrameException("a frame must have 1.." + MAX_BYTES + " bytes, got " + length);
		}
		if (this.pending.remaining() - Integer.BYTES < length) {
			return null;
		}
		int start = this.pending.position() + Integer.BYTES;
		this.pending.position(start + length);
		return this.pending.slice(start, length);
	}

	private @Nullable ByteBuffer releaseIfEmpty() {
		if (!this.pending.hasRemaining()) {
			this.pending = NOTHING;
		}
		return null;
	}

}
