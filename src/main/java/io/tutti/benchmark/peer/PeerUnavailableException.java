package io.tutti.benchmark.peer;

/**
 * Thrown if a peer cannot be measured. The message names the cause in one line.
 */
final class PeerUnavailableException extends Exception {

	private static final long serialVersionUID = 1;

	PeerUnavailableException(String message) {
		super(message);
	}

}
