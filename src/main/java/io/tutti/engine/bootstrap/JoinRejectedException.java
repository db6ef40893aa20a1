package io.tutti.engine.bootstrap;

import java.io.IOException;

/**
 * Rank 0 rejects this rank for now. A later attempt may succeed.
 */
final class JoinRejectedException extends IOException {

	private static final long serialVersionUID = 1L;

	JoinRejectedException(String message) {
		super(message);
	}

}
