package io.tutti.engine.bootstrap;

import java.nio.ByteBuffer;
import java.util.Arrays;

import io.tutti.engine.control.ControlMessage;
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

	private static final HandshakeProof PROOFS = new HandshakeProof("the token");

	private static final JoinPolicy ADMISSION = new JoinPolicy("job", 3, 4);

	/** Reads an input. Throws if the check fails. */
	public static void read(byte[] input) {
		ServerHandshake handshake = new ServerHandshake(PROOFS);
		try {
			int at = 0;
			while (at < input.length) {
				int end = Math.min(input.length, at + 1 + (input[at] & 0xff));
				take(handshake, MessageCodec.decode(ByteBuffer.wrap(Arrays.copyOfRange(input, at + 1, end))));
				at = end;
			}
		}
		catch (MalformedFrameException ex) {
			// Rank 0 disconnects the client.
		}
	}

	private static void take(ServerHandshake handshake, ControlMessage message) throws MalformedFrameException {
		switch (handshake.receive(message)) {
			case ServerHandshake.Answer(var answer) -> MessageCodec.encode(answer);
			case ServerHandshake.Refuse(var refusal) -> MessageCodec.encode(refusal);
			case ServerHandshake.Proved(var hello) -> throw new AssertionError("no token was needed: " + hello);
		}
		if (message instanceof Hello hello) {
			ControlMessage refusal = ADMISSION.judge(hello);
			if (refusal != null) {
				MessageCodec.encode(refusal);
			}
		}
	}

}
