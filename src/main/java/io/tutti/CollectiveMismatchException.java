package io.tutti;

import org.jspecify.annotations.Nullable;

/**
 * Ranks called different collectives, or with different counts, types, operators or
 * roots, at the same sequence number.
 */
public final class CollectiveMismatchException extends CollectiveException {

	private static final long serialVersionUID = 1L;

	CollectiveMismatchException(int rank, int worldSize, Failure failure, Place place, @Nullable Throwable cause) {
		super(rank, worldSize, failure, place, (failure.collective() != null)
				? "Every rank must issue the same collectives in the same order" : "Every rank must do the same",
				cause);
	}

}
