package io.tutti.engine.rendezvous;

/**
 * Bytes that are no message of this protocol: whoever sent them is not to be believed any
 * further.
 */
final class MalformedFrameException extends Exception {

	private static final long serialVersionUID = 1L;

	MalformedFrameException(String message) {
		super(message);
	}

}
