package io.tutti.engine.bootstrap;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;

import io.tutti.engine.control.ControlMessage.DataHello;
import io.tutti.engine.control.MessageCodec;
import io.tutti.engine.control.SessionKey;

/**
 * Checks that either side of a data connection throws {@link IOException} for any bytes
 * that do not prove the session key. The low bits of the input choose the side.
 */
public final class DataHandshakeFuzz {

	private DataHandshakeFuzz() {
	}

	private static final Handshake<DataHello> HANDSHAKE = Handshake.ofData(new SessionKey(new byte[] { 1, 2, 3 }));

	private static final DataHello HELLO = new DataHello("world", 1, 2, 0);

	/** Reads an input. Throws if the check fails. */
	public static void read(byte[] input) {
		int choice = (input.length > 0) ? input[0] & 3 : 0;
		StreamChannel peer = new StreamChannel(new ByteArrayInputStream(input), OutputStream.nullOutputStream());
		try {
			switch (choice) {
				case 0 -> {
					HANDSHAKE.accept(peer, () -> {
					});
					throw new AssertionError("a client was accepted without the key");
				}
				case 1 -> {
					peer.in().read();
					HANDSHAKE.connect(peer, HELLO, () -> {
					});
					throw new AssertionError("a server was trusted without the key");
				}
				default -> MessageCodec.decode(ByteBuffer.wrap(input));
			}
		}
		catch (IOException ex) {
			// The expected result for an unauthenticated peer.
		}
	}

}
