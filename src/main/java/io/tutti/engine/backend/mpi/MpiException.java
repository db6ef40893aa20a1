package io.tutti.engine.backend.mpi;

import org.jspecify.annotations.Nullable;

/**
 * MPI was asked for something that cannot be; nothing was sent. What fails on the way is
 * a {@link io.tutti.engine.CollectiveException} instead.
 */
public abstract sealed class MpiException extends RuntimeException
		permits InvalidWorldSizeException, InvalidRankException, MpiIoException {

	private static final long serialVersionUID = 1L;

	MpiException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
