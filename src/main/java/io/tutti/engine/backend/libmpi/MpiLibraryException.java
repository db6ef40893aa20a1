package io.tutti.engine.backend.libmpi;

import io.tutti.Failure;

/**
 * A function of the MPI library failed.
 */
public final class MpiLibraryException extends RuntimeException implements Failure.Origin {

	private static final long serialVersionUID = 1L;

	private final String function;

	private final int code;

	private final int rank;

	private final int worldSize;

	MpiLibraryException(int rank, int worldSize, String function, int code, String text) {
		super("rank " + rank + ": " + function + " failed with code " + code + ": " + text);
		this.function = function;
		this.code = code;
		this.rank = rank;
		this.worldSize = worldSize;
	}

	@Override
	public int rank() {
		return this.rank;
	}

	@Override
	public int worldSize() {
		return this.worldSize;
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
