package io.tutti.engine.backend.mpi;

/**
 * The world could not be reached: an address cannot be resolved, listened on or set up.
 */
public final class MpiIoException extends MpiException {

	private static final long serialVersionUID = 1L;

	private final String endpoint;

	MpiIoException(String endpoint, String problem, Throwable cause) {
		super("the ranks cannot join at " + endpoint + ": " + problem, cause);
		this.endpoint = endpoint;
	}

	/** Host and port of rank 0. */
	public String endpoint() {
		return this.endpoint;
	}

}
