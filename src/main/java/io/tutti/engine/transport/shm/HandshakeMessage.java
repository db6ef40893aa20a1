package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import io.tutti.engine.spi.MetadataExchange;

/**
 * One rank's message in one step of the handshake.
 *
 * @param fine whether this rank can continue
 * @param first a number that depends on the step
 * @param second another such number
 * @param text a name that depends on the step, or the reason why the rank cannot continue
 */
record HandshakeMessage(boolean fine, long first, long second, String text) {

	private static final int HEADER_BYTES = 1 + 2 * Long.BYTES;

	static final HandshakeMessage NOTHING = new HandshakeMessage(true, 0, 0, "");

	static HandshakeMessage refusal(String reason) {
		return new HandshakeMessage(false, 0, 0, reason);
	}

	byte[] encode() {
		byte[] letters = this.text.getBytes(StandardCharsets.UTF_8);
		int length = Math.min(letters.length, MetadataExchange.MAX_BYTES - HEADER_BYTES);
		return ByteBuffer.allocate(HEADER_BYTES + length)
			.put((byte) (this.fine ? 1 : 0))
			.putLong(this.first)
			.putLong(this.second)
			.put(letters, 0, length)
			.array();
	}

	static HandshakeMessage decode(byte[] bytes) throws IOException {
		if (bytes.length < HEADER_BYTES || bytes.length > MetadataExchange.MAX_BYTES) {
			throw new IOException("a message of the shared-memory handshake must have " + HEADER_BYTES + ".."
					+ MetadataExchange.MAX_BYTES + " bytes, got " + bytes.length);
		}
		ByteBuffer buffer = ByteBuffer.wrap(bytes);
		boolean fine = buffer.get() == 1;
		long first = buffer.getLong();
		long second = buffer.getLong();
		return new HandshakeMessage(fine, first, second, StandardCharsets.UTF_8.decode(buffer).toString());
	}

}
