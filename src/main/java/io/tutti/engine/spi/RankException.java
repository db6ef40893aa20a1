package io.tutti.engine.spi;

import io.tutti.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A failure on one rank before or outside of a group's calls. Its message begins with the
 * rank, if it is known.
 */
public abstract class RankException extends RuntimeException implements Failure.Origin {

	private static final long serialVersionUID = 1L;

	private final int rank;

	private final int worldSize;

	private final String problem;

	/**
	 * Creates the exception.
	 * @param rank the rank, -1 if it is not known
	 * @param worldSize number of ranks, -1 if it is not known
	 * @param problem what failed
	 */
	protected RankException(int rank, int worldSize, String problem, @Nullable Throwable cause) {
		super(((rank >= 0) ? "rank " + rank + ": " : "") + problem, cause);
		this.rank = rank;
		this.worldSize = worldSize;
		this.problem = problem;
	}

	/**
	 * {@return what failed: the message without the rank}
	 */
	public final String problem() {
		return this.problem;
	}

	@Override
	public final int rank() {
		return this.rank;
	}

	@Override
	public final int worldSize() {
		return this.worldSize;
	}

}
