package io.tutti.engine.backend.libmpi;

import io.tutti.engine.spi.RankException;

/**
 * A function of the MPI library failed.
 */
public final class MpiLibraryException extends RankException {

	private static final long serialVersionUID = 1L;

	private final String function;

	private final int code;

	MpiLibraryException(int rank, int worldSize, String function, int code, String text) {
		super(rank, worldSize, function + " failed with code " + code + ": " + text, null);
		this.function = function;
		this.code = code;
	}

	/** Name of the function. */
	public String function() {
		return this.function;
	}

	/** The library's error code. */
	public int code() {
		return this.code;
	}

}
