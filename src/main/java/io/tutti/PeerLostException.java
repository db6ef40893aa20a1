package io.tutti;

import org.jspecify.annotations.Nullable;

/**
 * A rank of the group ended, stopped sending heartbeats, was disconnected or left the job
 * in order while another rank still needed it; {@link Failure#ranks()} names it.
 */
public final class PeerLostException extends CollectiveException {

	private static final long serialVersionUID = 1L;

	PeerLostException(int rank, int worldSize, Failure failure, Place place, @Nullable Throwable cause) {
		super(rank, worldSize, failure, place,
				"Look at the log of the named rank, then start the job again, from its last checkpoint if it has one",
				cause);
	}

}
