package io.tutti;

/**
 * Processes wait to join an {@link ElasticGroup}. Thrown by {@link ElasticGroup#commit()}
 * on every rank after the same step, so that the ranks form the next generation together.
 * No step is lost. A loop lets it pass.
 */
public final class MembershipChangedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message the waiting ranks
	 */
	public MembershipChangedException(String message) {
		super(message);
	}

}
