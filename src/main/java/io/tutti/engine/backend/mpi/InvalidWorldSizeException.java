package io.tutti.engine.backend.mpi;

/**
 * The world size is less than 1.
 */
public final class InvalidWorldSizeException extends MpiException {

	private static final long serialVersionUID = 1L;

	private final int worldSize;

	InvalidWorldSizeException(int worldSize) {
		super("world size must be at least 1, got " + worldSize, null);
		this.worldSize = worldSize;
	}

	/**
	 * The invalid world size.
	 * @return the invalid world size
	 */
	public int worldSize() {
		return this.worldSize;
	}

}
