package io.tutti.engine.backend.libmpi;

/**
 * Failures of an MPI library for tests of other packages.
 */
public final class LibMpiFailures {

	private LibMpiFailures() {
	}

	/** A failed call on a rank. */
	public static MpiLibraryException onRank(int rank, int worldSize) {
		return new MpiLibraryException(rank, worldSize, "MPI_Allreduce", 15, "MPI_ERR_TRUNCATE");
	}

}
