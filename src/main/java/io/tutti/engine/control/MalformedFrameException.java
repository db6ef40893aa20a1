package io.tutti.engine.control;

import java.io.IOException;

/**
 * The received bytes are not a valid message of this protocol. The receiver must not
 * process further input from that peer.
 */
public final class MalformedFrameException extends IOException {

	private static final long serialVersionUID = 1L;

	public MalformedFrameException(String message) {
		super(message);
	}

}
