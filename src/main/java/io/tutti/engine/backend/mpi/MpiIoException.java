package io.tutti.engine.backend.mpi;

import io.tutti.Failure;
import io.tutti.engine.RankAssignment;

/**
 * The world could not be reached: an address cannot be resolved or listened on.
 */
public final class MpiIoException extends MpiException implements Failure.Origin {

	private static final long serialVersionUID = 1L;

	private final String endpoint;

	private final int rank;

	private final int worldSize;

	MpiIoException(RankAssignment assignment, String problem, Throwable cause) {
		String endpoint = assignment.masterAddress() + ":" + assignment.masterPort();
		super("rank " + assignment.rank() + ": the ranks cannot join at " + endpoint + ": " + problem, cause);
		this.endpoint = endpoint;
		this.rank = assignment.rank();
		this.worldSize = assignment.worldSize();
	}

	@Override
	public int rank() {
		return this.rank;
	}

	@Override
	public int worldSize() {
		return this.worldSize;
	}

	/** Host and port of rank 0. */
	@Override
	public String endpoint() {
		return this.endpoint;
	}

}
