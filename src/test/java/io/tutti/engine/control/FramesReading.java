package io.tutti.engine.control;

import java.nio.ByteBuffer;

/**
 * Any bytes on the control plane are messages or {@link MalformedFrameException}; the
 * first byte says whether their sender has proved itself and how they are cut.
 */
public final class FramesReading {

	private FramesReading() {
	}

	private static final int TRUSTED = 0x80;

	/** Reads an input; throws where the promise is not kept. */
	public static void read(byte[] input) {
		FrameAssembler frames = new FrameAssembler();
		int first = (input.length > 0) ? input[0] : 0;
		if ((first & TRUSTED) != 0) {
			frames.trust();
		}
		int piece = Math.max(1, first & ~TRUSTED);
		try {
			for (int at = Math.min(1, input.length); at < input.length; at += piece) {
				frames.append(ByteBuffer.wrap(input, at, Math.min(piece, input.length - at)));
				for (ByteBuffer frame = frames.next(); frame != null; frame = frames.next()) {
					requireSameAgain(MessageCodec.decode(frame));
				}
			}
		}
		catch (MalformedFrameException ex) {
			// What the protocol says of bytes that are no message.
		}
	}

	/** What was understood can be said, and is understood the same again. */
	private static void requireSameAgain(ControlMessage message) throws MalformedFrameException {
		ByteBuffer encoded = MessageCodec.encode(message);
		ByteBuffer again = MessageCodec
			.encode(MessageCodec.decode(encoded.slice(Integer.BYTES, encoded.remaining() - Integer.BYTES)));
		if (!encoded.equals(again)) {
			throw new AssertionError(message + " changes when it is sent on");
		}
	}

}
