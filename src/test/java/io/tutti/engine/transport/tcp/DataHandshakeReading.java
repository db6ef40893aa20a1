package io.tutti.engine.transport.tcp;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;

import io.tutti.engine.control.SessionKey;

/**
 * Either side of a data connection throws {@link IOException} at anything that does not
 * prove the session's key. The first bit of the input chooses what is read.
 */
public final class DataHandshakeReading {

	private DataHandshakeReading() {
	}

	private static final DataHandshake HANDSHAKE = new DataHandshake(new SessionKey(new byte[] { 1, 2, 3 }));

	private static final DataHello HELLO = new DataHello("world", 1, 2, 0);

	/** Reads an input; throws where the promise is not kept. */
	public static void read(byte[] input) {
		int choice = (input.length > 0) ? input[0] & 3 : 0;
		try {
			switch (choice) {
				case 0 -> {
					HANDSHAKE.receive(new ByteArrayInputStream(input), OutputStream.nullOutputStream(), () -> {
					});
					throw new AssertionError("let in without the key");
				}
				case 1 -> {
					HANDSHAKE.introduce(new ByteArrayInputStream(input), OutputStream.nullOutputStream(), HELLO, () -> {
					});
					throw new AssertionError("believed without the key");
				}
				default -> DataHello.decode(input);
			}
		}
		catch (IOException ex) {
			// What is said of strangers.
		}
	}

}
