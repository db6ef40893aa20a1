package io.tutti.engine.rendezvous.meeting;

import java.io.IOException;

/**
 * Rank 0 has no seat for this rank now; it may have one later.
 */
final class TurnedAwayException extends IOException {

	private static final long serialVersionUID = 1L;

	TurnedAwayException(String message) {
		super(message);
	}

}
