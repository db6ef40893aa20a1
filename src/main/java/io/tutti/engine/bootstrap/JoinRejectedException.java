package io.tutti.engine.bootstrap;

import java.io.IOException;

/**
 * Rank 0 has no seat for this rank now; it may have one later.
 */
final class JoinRejectedException extends IOException {

	private static final long serialVersionUID = 1L;

	JoinRejectedException(String message) {
		super(message);
	}

}
