package io.tutti;

/**
 * Hears of a group's events and failures. Called on engine threads: must return quickly
 * and not throw. The plain course of collectives is not an event: meters read counters
 * instead, so that a call stays cheap.
 */
public interface CollectiveListener {

	/** Hears nothing. */
	CollectiveListener NONE = new CollectiveListener() {
	};

	/** Something an operator may want to know, in words. */
	default void note(String message) {
	}

	/** Something is not as it should be, though the group is whole; in words. */
	default void warn(String message) {
	}

	/**
	 * A rank was told to stop before the ranks had met, and has left. It may come again:
	 * those who wait go on waiting.
	 */
	default void withdrew(int rank) {
	}

	/** A group broke; the failure is the same on every rank. */
	default void broken(Failure failure) {
	}

}
