package io.tutti;

import org.jspecify.annotations.Nullable;

/**
 * The requested backend cannot run collectives in this process. The message states the
 * cause and the action to take. There is no silent fallback to another backend.
 */
public final class BackendUnavailableException extends RuntimeException implements ExitCode.Source, Failure.Origin {

	private static final long serialVersionUID = 1L;

	/** Name of the backend. */
	private final String backend;

	/** What cannot be used, as a sentence. */
	private final String subject;

	/** What is missing or wrong. */
	private final String problem;

	/** What to do about it. */
	private final String action;

	/** This process's rank in the job, -1 if it is not known. */
	private final int rank;

	/** Number of ranks of the job, -1 if it is not known. */
	private final int worldSize;

	/**
	 * Creates the exception for a backend where this process's rank is not known.
	 * @param backend name of the backend, such as {@code nccl}
	 * @param problem what is missing or wrong, as the rest of a sentence
	 * @param action what to do about it, as a sentence with no full stop
	 */
	public BackendUnavailableException(String backend, String problem, String action) {
		this(backend, problem, action, null);
	}

	/**
	 * Creates an exception thrown before the rank is known.
	 * @param backend name of the backend, such as {@code nccl}
	 * @param problem what is missing or wrong, as the rest of a sentence
	 * @param action what to do about it, as a sentence with no full stop
	 * @param cause what made the backend unavailable
	 * @see #BackendUnavailableException(String, String, String)
	 */
	public BackendUnavailableException(String backend, String problem, String action, @Nullable Throwable cause) {
		this(backend, "backend " + backend + " is not available", problem, action, -1, -1, cause);
	}

	private BackendUnavailableException(String backend, String subject, String problem, String action, int rank,
			int worldSize, @Nullable Throwable cause) {
		super(((rank >= 0) ? "rank " + rank + ": " : "") + subject + ": " + problem + ". " + action, cause);
		this.backend = backend;
		this.subject = subject;
		this.problem = problem;
		this.action = action;
		this.rank = rank;
		this.worldSize = worldSize;
	}

	/**
	 * Creates the exception for a backend, or a use of it, with which a job cannot
	 * continue without a lost rank. For backends and training code.
	 * @param backend name of the backend, such as {@code nccl}
	 * @param problem what cannot continue, as a sentence with no full stop
	 * @param action what to do about it, as a sentence with no full stop
	 * @return the exception, in which no rank is known
	 */
	public static BackendUnavailableException inElasticJob(String backend, String problem, String action) {
		return new BackendUnavailableException(backend, "tutti.elastic.min-ranks is not supported here", problem,
				action, -1, -1, null);
	}

	/**
	 * The same exception with the rank that throws it, for implementations of groups: a
	 * backend is looked for before the rank is known.
	 * @param rank this process's rank among all ranks of the job
	 * @param worldSize number of ranks of the job
	 * @return the exception with rank and world size; this one if it has them already
	 */
	public BackendUnavailableException onRank(int rank, int worldSize) {
		return (this.rank >= 0) ? this : new BackendUnavailableException(this.backend, this.subject, this.problem,
				this.action, rank, worldSize, this);
	}

	/**
	 * The rank, among all ranks of the job, that threw this.
	 * @return the rank, -1 if the exception was thrown before the rank was known
	 */
	@Override
	public int rank() {
		return this.rank;
	}

	/**
	 * Number of ranks of the job.
	 * @return the number of ranks, -1 if the exception was thrown before it was known
	 */
	@Override
	public int worldSize() {
		return this.worldSize;
	}

	/**
	 * Name of the backend.
	 * @return name of the backend
	 */
	public String backend() {
		return this.backend;
	}

	/**
	 * What cannot be used.
	 * @return what cannot be used, as a sentence with no full stop
	 */
	public String subject() {
		return this.subject;
	}

	/**
	 * What is missing or wrong.
	 * @return what is missing or wrong
	 */
	public String problem() {
		return this.problem;
	}

	/**
	 * What to do about it.
	 * @return what to do about it
	 */
	public String action() {
		return this.action;
	}

	@Override
	public int exitCode() {
		return ExitCode.BAD_CONFIGURATION;
	}

}
