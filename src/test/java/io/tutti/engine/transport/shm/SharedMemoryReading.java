package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.nio.ByteBuffer;

import io.tutti.engine.control.RecordCodec;

/**
 * Checks that a message of the shared-memory handshake is valid or causes an
 * {@link IOException}, and that its segment name stays within the segment directory.
 */
public final class SharedMemoryReading {

	private SharedMemoryReading() {
	}

	/** Reads an input; throws if the check fails. */
	public static void read(byte[] input) {
		try {
			HandshakeMessage message = RecordCodec.decode(HandshakeMessage.class, ByteBuffer.wrap(input));
			RecordCodec.encode(message);
			if (SegmentName.parse(message.text()) != null && message.text().contains("/")) {
				throw new AssertionError("a name that leads elsewhere: " + message.text());
			}
		}
		catch (IOException ex) {
			// Expected for bytes that are not a message.
		}
	}

}
