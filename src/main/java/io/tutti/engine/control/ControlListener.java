package io.tutti.engine.control;

import java.util.List;

import io.tutti.Failure;
import io.tutti.engine.spi.CallReport;
import org.jspecify.annotations.Nullable;

/**
 * What the control plane tells this process. Called on the control plane's own thread:
 * must not block.
 */
public interface ControlListener {

	/** In place of a sequence number: this rank knows of no such group. */
	long NOT_A_MEMBER = Long.MAX_VALUE;

	/**
	 * A verdict, the same on every rank. A {@link Failure.Kind#PEER_LOST} breaks every
	 * group that holds the lost rank; anything else only the group it names.
	 */
	void failed(Failure verdict);

	/**
	 * A rank has left a group in order: no failure, unless a call of that group needs it.
	 */
	default void departed(Departure departure) {
	}

	/** Somebody asked that the whole group stop at its next step boundary. */
	void drainRequested(String reason);

	/**
	 * The sequence number of the last call that this rank has entered in a group, -1 for
	 * none, {@link #NOT_A_MEMBER} if it is not in it or has not formed it yet; rank 0
	 * asks to find out who is missing.
	 */
	long lastEntered(String group);

	/**
	 * How far this rank has come in its groups, the one of all ranks first. Goes with
	 * each sign of life, so that something is known of a rank that gives none any more.
	 * @return of some groups only where there are very many
	 */
	default List<RankProgress> progress() {
		return List.of();
	}

	/**
	 * The world ranks of a group, so that none of the others is taken for missing; empty
	 * for the group of all ranks, or if this rank does not know.
	 */
	List<Integer> members(String group);

	/**
	 * What this rank called at a place in a group's order; rank 0 asks because another
	 * rank waits there.
	 * @return {@code null} if it is forgotten or has not begun; in that case the rank
	 * posts it as soon as it begins
	 */
	@Nullable CallReport called(String group, long sequence);

	/**
	 * This rank's account of its last calls, for a rank that wants to know.
	 * @param limit how many calls of each group are told at most
	 */
	default byte[] account(int limit) {
		return new byte[0];
	}

	/**
	 * A rank was told to stop before all had met, and has left; it may come again.
	 */
	default void withdrew(int rank) {
	}

	/** Something an operator may want to know. */
	void note(String message);

	/** Something is not as it should be, though the group is whole. */
	void warn(String message);

}
