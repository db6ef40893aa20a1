package io.tutti.engine.control;

import java.util.List;

import io.tutti.Failure;
import io.tutti.engine.spi.CallReport;
import org.jspecify.annotations.Nullable;

/**
 * Receives events and queries from the control plane. Called on the control thread, so
 * implementations must not block.
 */
public interface ControlListener {

	/** Instead of a sequence number: this rank does not know the group. */
	long NOT_A_MEMBER = Long.MAX_VALUE;

	/**
	 * A verdict, the same on every rank. A {@link Failure.Kind#PEER_LOST} breaks every
	 * group of the lost rank, any other kind only the group it names.
	 */
	void failed(Failure verdict);

	/**
	 * A rank has left a group in order. This is a failure only if a call of that group
	 * needs the rank.
	 */
	default void departed(Departure departure) {
	}

	/** A rank has asked all ranks to stop at the next step boundary. */
	void drainRequested(String reason);

	/**
	 * The sequence number of the last call that this rank has entered in a group, -1 for
	 * none, {@link #NOT_A_MEMBER} if it is not a member or has not formed the group yet.
	 * Rank 0 asks in order to find the missing ranks.
	 */
	long lastEntered(String group);

	/**
	 * This rank's progress in its groups, the world group first. Sent with every
	 * heartbeat, so that the last progress of a rank that stops answering is known.
	 * @return the progress in all groups, or in some of them if there are very many
	 */
	default List<RankProgress> progress() {
		return List.of();
	}

	/**
	 * The world ranks of a group, so that no other rank counts as missing. Empty for the
	 * world group, or if this rank does not know the group.
	 */
	List<Integer> members(String group);

	/**
	 * This rank's call at a sequence number of a group. Rank 0 asks because another rank
	 * waits in that call.
	 * @return {@code null} if the call is no longer recorded or has not begun. A call
	 * that has not begun is reported when it begins.
	 */
	@Nullable CallReport called(String group, long sequence);

	/**
	 * This rank's encoded trace of its last calls, for a rank that asks for it.
	 * @param limit maximum number of calls per group
	 */
	default byte[] account(int limit) {
		return new byte[0];
	}

	/**
	 * A rank has left in order before all ranks had joined. It may join again.
	 */
	default void withdrew(int rank) {
	}

	/** Logs information for an operator. */
	void note(String message);

	/** Logs a problem that does not break the group. */
	void warn(String message);

}
