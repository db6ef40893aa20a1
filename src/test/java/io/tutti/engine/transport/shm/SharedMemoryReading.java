package io.tutti.engine.transport.shm;

import java.io.IOException;

/**
 * What ranks say while they look for common memory is a message or {@link IOException},
 * and a name that comes with it stays within the folder of segments.
 */
public final class SharedMemoryReading {

	private SharedMemoryReading() {
	}

	/** Reads an input; throws where the promise is not kept. */
	public static void read(byte[] input) {
		try {
			HandshakeMessage message = HandshakeMessage.decode(input);
			message.encode();
			if (SegmentName.parse(message.text()) != null && message.text().contains("/")) {
				throw new AssertionError("a name that leads elsewhere: " + message.text());
			}
		}
		catch (IOException ex) {
			// What is said of bytes that are no message.
		}
	}

}
