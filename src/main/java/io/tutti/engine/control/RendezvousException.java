package io.tutti.engine.control;

import io.tutti.ExitCode;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Rendezvous failed, or rank 0 rejected this rank. No group exists.
 */
public final class RendezvousException extends RuntimeException implements ExitCode.Source {

	private static final long serialVersionUID = 1L;

	/** Why rendezvous fails. */
	public enum Reason {

		/** Not every rank joined in time. */
		TIMEOUT,
		/** The token is wrong or missing. */
		AUTHENTICATION,
		/** Another process already has this rank. */
		DUPLICATE_RANK,
		/** Rank 0 has another world size. */
		WORLD_SIZE,
		/** This process belongs to an earlier generation of the group. */
		STALE_GENERATION,
		/** The rendezvous address belongs to another job. */
		JOB,
		/** The peer uses another version of the protocol, or another protocol. */
		PROTOCOL,
		/** The rendezvous address cannot be bound or resolved. */
		ADDRESS

	}

	private final Reason reason;

	private final transient List<Integer> missingRanks;

	public RendezvousException(Reason reason, String message, List<Integer> missingRanks, @Nullable Throwable cause) {
		super(message, cause);
		this.reason = reason;
		this.missingRanks = List.copyOf(missingRanks);
	}

	/** Why rendezvous failed. */
	public Reason reason() {
		return this.reason;
	}

	/** The ranks that had not joined, as far as this rank knows. */
	public List<Integer> missingRanks() {
		return this.missingRanks;
	}

	@Override
	public int exitCode() {
		return switch (this.reason) {
			case TIMEOUT -> ExitCode.DEADLINE_PASSED;
			case AUTHENTICATION -> ExitCode.AUTHENTICATION_FAILED;
			case DUPLICATE_RANK, WORLD_SIZE, STALE_GENERATION, JOB, PROTOCOL -> ExitCode.MISMATCH;
			case ADDRESS -> ExitCode.BAD_CONFIGURATION;
		};
	}

}
