package io.tutti.engine.backend.mpi;

import org.jspecify.annotations.Nullable;

/**
 * An MPI call is invalid or the world cannot be reached; no message was sent. A
 * communication failure is a {@link io.tutti.CollectiveException} instead.
 */
public abstract sealed class MpiException extends RuntimeException
		permits InvalidWorldSizeException, InvalidRankException, MpiIoException {

	private static final long serialVersionUID = 1L;

	MpiException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
