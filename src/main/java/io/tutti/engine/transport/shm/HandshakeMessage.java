package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.MetadataExchange;
import org.jspecify.annotations.Nullable;

/**
 * One rank's message in one step of the handshake.
 *
 * @param usable whether this rank can continue
 * @param first a number that depends on the step
 * @param second another such number
 * @param text a name that depends on the step, or the reason why the rank cannot continue
 */
record HandshakeMessage(boolean usable, long first, long second, String text) {

	private static final int HEADER_BYTES = 1 + 2 * Long.BYTES;

	static final HandshakeMessage NOTHING = new HandshakeMessage(true, 0, 0, "");

	static HandshakeMessage refusal(String reason) {
		return new HandshakeMessage(false, 0, 0, reason);
	}

	/** Exchanges this rank's message for the messages of all ranks. */
	static List<HandshakeMessage> allGather(HandshakeMessage own, MetadataExchange exchange, Deadline deadline)
			throws IOException {
		List<HandshakeMessage> messages = new ArrayList<>();
		for (byte[] message : exchange.allGather(own.encode(), deadline)) {
			messages.add(decode(message));
		}
		return messages;
	}

	/**
	 * The first refusal of some ranks, with the rank that sent it; {@code null} if none
	 * refused.
	 */
	@SafeVarargs
	static @Nullable String refusal(List<Integer> ranks, List<HandshakeMessage>... steps) {
		for (List<HandshakeMessage> step : steps) {
			for (int rank : ranks) {
				if (!step.get(rank).usable()) {
					return "rank " + rank + " reports: " + step.get(rank).text();
				}
			}
		}
		return null;
	}

	byte[] encode() {
		byte[] letters = this.text.getBytes(StandardCharsets.UTF_8);
		int length = Math.min(letters.length, MetadataExchange.MAX_BYTES - HEADER_BYTES);
		return ByteBuffer.allocate(HEADER_BYTES + length)
			.put((byte) (this.usable ? 1 : 0))
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
		boolean usable = buffer.get() == 1;
		long first = buffer.getLong();
		long second = buffer.getLong();
		return new HandshakeMessage(usable, first, second, StandardCharsets.UTF_8.decode(buffer).toString());
	}

}
