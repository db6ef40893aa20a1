package io.tutti.engine.control;

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

/**
 * Cuts a stream of bytes into frames. Memory grows with the bytes that have come, never
 * with a length that somebody claims.
 */
final class FrameAssembler {

	/** What a side that has proved nothing yet may send at once. */
	static final int MAX_BYTES_BEFORE_PROOF = 4 << 10;

	/** Holds a roster of some 200 000 ranks. */
	static final int MAX_BYTES_AFTER_PROOF = 16 << 20;

	/** A record of type 22, of a version that begins with 3. */
	private static final int TLS_HANDSHAKE = 0x1603;

	private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

	/** Bytes that have come and not been taken, from position to limit. */
	private ByteBuffer pending = NOTHING;

	/** The first bytes that came, as a number, once there are enough of them. */
	private int beginning;

	private boolean begun;

	private int maxBytes = MAX_BYTES_BEFORE_PROOF;

	/** From now on the other side may send long frames. */
	void trust() {
		this.maxBytes = MAX_BYTES_AFTER_PROOF;
	}

	/** Takes bytes that have come; all frames should have been taken out before. */
	void append(ByteBuffer bytes) {
		int total = this.pending.remaining() + bytes.remaining();
		if (this.pending.capacity() < total) {
			ByteBuffer larger = ByteBuffer.allocate(Math.max(total, 2 * this.pending.remaining()));
			this.pending = larger.put(this.pending);
		}
		else {
			this.pending.compact();
		}
		this.pending.put(bytes).flip();
	}

	/** Whether the first bytes were those of a TLS handshake. */
	boolean beginsLikeTls() {
		return this.beginning >>> 16 == TLS_HANDSHAKE;
	}

	/**
	 * The next frame without its length, or {@code null} if it has not come whole.
	 * @throws MalformedFrameException if its length is out of range
	 */
	@Nullable ByteBuffer next() throws MalformedFrameException {
		if (this.pending.remaining() < Integer.BYTES) {
			return releaseIfEmpty();
		}
		int length = this.pending.getInt(this.pending.position());
		if (!this.begun) {
			this.begun = true;
			this.beginning = length;
		}
		if (length < 1 || length > this.maxBytes) {
			throw new MalformedFrameException("a frame must have 1.." + this.maxBytes + " bytes, got " + length);
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
