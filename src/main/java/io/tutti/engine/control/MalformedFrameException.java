package io.tutti.engine.control;

/**
 * Bytes that are no message of this protocol: whoever sent them is not to be believed any
 * further.
 */
public final class MalformedFrameException extends Exception {

	private static final long serialVersionUID = 1L;

	public MalformedFrameException(String message) {
		super(message);
	}

}
