package io.tutti.engine.control;

import java.nio.ByteBuffer;

/**
 * Checks that any bytes on the control plane are a valid message or cause a
 * {@link MalformedFrameException}. The first input byte selects the size of the pieces
 * that arrive.
 */
public final class FramesReading {

	private FramesReading() {
	}

	/** Reads an input. Throws if the check fails. */
	public static void read(byte[] input) {
		FrameAssembler frames = new FrameAssembler();
		int first = (input.length > 0) ? input[0] : 0;
		int piece = Math.max(1, first & 0x7f);
		try {
			for (int at = Math.min(1, input.length); at < input.length; at += piece) {
				frames.append(ByteBuffer.wrap(input, at, Math.min(piece, input.length - at)));
				for (ByteBuffer frame = frames.next(); frame != null; frame = frames.next()) {
					requireSameAgain(MessageCodec.decode(frame));
				}
			}
		}
		catch (MalformedFrameException ex) {
			// The expected result for an invalid message.
		}
	}

	/** A decoded message must encode and decode to the same bytes again. */
	private static void requireSameAgain(ControlMessage message) throws MalformedFrameException {
		ByteBuffer encoded = MessageCodec.encode(message);
		ByteBuffer again = MessageCodec
			.encode(MessageCodec.decode(encoded.slice(Integer.BYTES, encoded.remaining() - Integer.BYTES)));
		if (!encoded.equals(again)) {
			throw new AssertionError(message + " changes when it is sent on");
		}
	}

}
