package io.tutti;

import org.jspecify.annotations.Nullable;

/**
 * The deadline of a collective passed. {@link Failure#ranks()} are the ranks that had not
 * entered it. If all ranks had entered it, they are the ranks whose data a rank waited
 * for.
 */
public final class CollectiveTimeoutException extends CollectiveException {

	private static final long serialVersionUID = 1L;

	CollectiveTimeoutException(int rank, int worldSize, Failure failure, Place place, @Nullable Throwable cause) {
		super(rank, worldSize, failure, place,
				"Look at the named ranks: they are stopped, slow or elsewhere in the program, or the network does not deliver to them; if they are only slow, raise the limit (withTimeout or tutti.timeout.collective)",
				cause);
	}

}
