package io.tutti.engine;

/**
 * What was asked for cannot carry collectives here; the message says why and what to do.
 * Never answered by falling back in silence.
 */
public final class BackendUnavailableException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	public BackendUnavailableException(String message) {
		super(message);
	}

}
