package io.tutti.engine.backend.libmpi;

/**
 * A function of the MPI library failed.
 */
public final class MpiLibraryException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String function;

	private final int code;

	MpiLibraryException(String function, int code, String text) {
		super(function + " failed with code " + code + ": " + text);
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
