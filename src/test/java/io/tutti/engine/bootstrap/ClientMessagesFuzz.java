package io.tutti.engine.bootstrap;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;

import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.MalformedFrameException;
import io.tutti.engine.control.MessageCodec;

/**
 * Checks that rank 0 answers, rejects with a reason or disconnects for any sequence of
 * client messages, and that no client joins without the token. A length byte precedes
 * each message.
 */
public final class ClientMessagesFuzz {

	private ClientMessagesFuzz() {
	}

	private static final Handshake<Hello> HANDSHAKE = Handshake.ofControl("the token");

	private static final JoinPolicy POLICY = new JoinPolicy("job", 3, 4);

	/** Reads an input. Throws if the check fails. */
	public static void read(byte[] input) {
		ByteArrayOutputStream stream = new ByteArrayOutputStream();
		int at = 0;
		boolean connected = true;
		while (at < input.length) {
			int end = Math.min(input.length, at + 1 + (input[at] & 0xff));
			byte[] message = Arrays.copyOfRange(input, at + 1, end);
			connected = connected && isAccepted(message);
			stream.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(message.length).array());
			stream.writeBytes(message);
			at = end;
		}
		accept(stream.toByteArray());
	}

	/** As for a connection, which rank 0 closes after the first refused message. */
	private static boolean isAccepted(byte[] message) {
		try {
			if (MessageCodec.decode(ByteBuffer.wrap(message)) instanceof Hello hello) {
				POLICY.check(hello);
			}
			return true;
		}
		catch (HandshakeException ex) {
			MessageCodec.encode(ex.message());
		}
		catch (MalformedFrameException ex) {
			// Rank 0 refuses the client.
		}
		return false;
	}

	private static void accept(byte[] stream) {
		try {
			Handshake.Verified<Hello> client = HANDSHAKE
				.accept(new StreamChannel(new ByteArrayInputStream(stream), OutputStream.nullOutputStream()), () -> {
				});
			throw new AssertionError("no token was needed: " + client);
		}
		catch (HandshakeException ex) {
			MessageCodec.encode(ex.message());
		}
		catch (IOException ex) {
			// Rank 0 disconnects the client.
		}
	}

}
