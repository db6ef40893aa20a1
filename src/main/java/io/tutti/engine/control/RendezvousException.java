package io.tutti.engine.control;

import java.util.Arrays;
import java.util.List;

import io.tutti.ExitCode;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.spi.RankException;
import org.jspecify.annotations.Nullable;

/**
 * Rendezvous failed, or rank 0 rejected this rank. No group exists.
 */
public final class RendezvousException extends RankException implements ExitCode.Source {

	private static final long serialVersionUID = 1L;

	/** Why rendezvous fails. */
	public enum Reason {

		/**
		 * Not every rank joined in time, a name was not known in time, or the waiting
		 * thread was interrupted.
		 */
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
		/** The rendezvous address cannot be bound. */
		ADDRESS

	}

	private final Reason reason;

	private final String endpoint;

	private final int[] missingRanks;

	/**
	 * @param assignment the rank that joins, and the rendezvous address
	 * @param problem what is wrong and the action to take; the message adds the rank
	 * @param missingRanks the ranks that had not joined, as far as this rank knows
	 */
	public RendezvousException(RankAssignment assignment, Reason reason, String problem, List<Integer> missingRanks,
			@Nullable Throwable cause) {
		super(assignment.rank(), assignment.worldSize(), problem, cause);
		this.endpoint = assignment.masterAddress() + ":" + assignment.masterPort();
		this.reason = reason;
		this.missingRanks = missingRanks.stream().mapToInt(Integer::intValue).toArray();
	}

	/** The ranks that had not joined, as far as this rank knows. */
	@Override
	public List<Integer> peers() {
		return missingRanks();
	}

	/** The rendezvous address. */
	@Override
	public String endpoint() {
		return this.endpoint;
	}

	/** Why rendezvous failed. */
	public Reason reason() {
		return this.reason;
	}

	/** The ranks that had not joined, as far as this rank knows. */
	public List<Integer> missingRanks() {
		return Arrays.stream(this.missingRanks).boxed().toList();
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
