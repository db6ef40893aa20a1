package io.tutti.engine.control;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The ranks did not meet, or this one was refused. No group exists.
 */
public final class RendezvousException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/** Why a meeting fails. */
	public enum Reason {

		/** Not every rank came in time. */
		TIMEOUT,
		/** The token is wrong or missing. */
		AUTHENTICATION,
		/** Another process already has this rank. */
		DUPLICATE_RANK,
		/** Rank 0 was told another world size. */
		WORLD_SIZE,
		/** This process belongs to an earlier forming of the group. */
		STALE_GENERATION,
		/** The meeting point belongs to another job. */
		JOB,
		/** The other side speaks another version or something else altogether. */
		PROTOCOL,
		/** The meeting point cannot be bound or its name not be resolved. */
		ADDRESS

	}

	private final Reason reason;

	private final transient List<Integer> missingRanks;

	public RendezvousException(Reason reason, String message, List<Integer> missingRanks, @Nullable Throwable cause) {
		super(message, cause);
		this.reason = reason;
		this.missingRanks = List.copyOf(missingRanks);
	}

	/** Why. */
	public Reason reason() {
		return this.reason;
	}

	/** The ranks that had not come, as far as this rank knows. */
	public List<Integer> missingRanks() {
		return this.missingRanks;
	}

}
