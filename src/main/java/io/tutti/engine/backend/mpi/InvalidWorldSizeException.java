package io.tutti.engine.backend.mpi;

/**
 * A world must have at least one rank.
 */
public final class InvalidWorldSizeException extends MpiException {

	private static final long serialVersionUID = 1L;

	private final int worldSize;

	InvalidWorldSizeException(int worldSize) {
		super("world size must be at least 1, got " + worldSize, null);
		this.worldSize = worldSize;
	}

	/** The world size that was asked for. */
	public int worldSize() {
		return this.worldSize;
	}

}
