package io.tutti;

/**
 * Receives a group's events and failures. Called on engine threads; implementations must
 * return quickly and must not throw. Successful collectives are not events: meters read
 * counters instead, so that calls stay cheap.
 */
public interface CollectiveListener {

	/** Ignores all events. */
	CollectiveListener NONE = new CollectiveListener() {
	};

	/**
	 * Information for an operator.
	 * @param message text of the event
	 */
	default void note(String message) {
	}

	/**
	 * A problem that does not break the group.
	 * @param message text of the event
	 */
	default void warn(String message) {
	}

	/**
	 * A rank was told to stop during rendezvous and has left. It may join again, so the
	 * other ranks keep waiting.
	 * @param rank the rank that left
	 */
	default void withdrew(int rank) {
	}

	/**
	 * A group broke; the failure is the same on every rank. This may close the group. To
	 * close another one, in which a call or message of this rank has not ended, use
	 * another thread: the thread that calls this also takes the verdict on it, so that
	 * the close would wait for {@code tutti.timeout.abort}, and no other rank hears from
	 * this one meanwhile.
	 * @param failure the failure
	 */
	default void broken(Failure failure) {
	}

}
