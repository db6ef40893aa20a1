package io.tutti;

/**
 * Where a group stands in its life.
 */
public enum GroupState {

	/** The ranks are still meeting. */
	FORMING,
	/** Collectives may be called. */
	READY,
	/** A failure ended the group on every rank. */
	BROKEN,
	/** This rank has left. */
	CLOSED

}
