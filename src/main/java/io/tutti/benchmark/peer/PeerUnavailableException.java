package io.tutti.benchmark.peer;

/**
 * A peer cannot be measured; the message says in one line what is missing or went wrong.
 */
final class PeerUnavailableException extends Exception {

	private static final long serialVersionUID = 1;

	PeerUnavailableException(String message) {
		super(message);
	}

}
