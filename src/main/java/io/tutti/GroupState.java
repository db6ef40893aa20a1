package io.tutti;

/**
 * Lifecycle state of a group.
 */
public enum GroupState {

	/** The rendezvous is in progress. */
	FORMING,
	/** Collectives may be called. */
	READY,
	/** A failure ended the group on every rank. */
	BROKEN,
	/** This rank has left. */
	CLOSED

}
