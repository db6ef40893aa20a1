package io.tutti.engine.transport;

import io.tutti.engine.spi.Call;

/**
 * Moves bytes between this rank and the others of one group. Driven by the thread whose
 * turn it is; only {@link #wake()} may come from another.
 */
public interface Transport extends AutoCloseable {

	/** The name people type and read, such as {@code tcp}. */
	String name();

	/** Starts a call: from now on its fingerprint goes ahead on every link. */
	void begin(Call call);

	/**
	 * The link to a rank of the group, opened on first use; until it is open nothing
	 * moves.
	 */
	Link link(int peer);

	/**
	 * Called after a round in which nothing moved: spins, yields, then sleeps until
	 * something may move.
	 * @throws io.tutti.CollectiveException if the deadline has passed, the group is
	 * broken, a rank has left it, or the thread was interrupted
	 */
	void stalled();

	/** Called after a round in which something moved. */
	void moved();

	/**
	 * Called after a round of a call that goes on.
	 * @param moved whether anything moved in it
	 */
	default void endRound(boolean moved) {
		if (moved) {
			moved();
		}
		else {
			stalled();
		}
	}

	/** Ends the sleep of the thread that waits, if any. */
	void wake();

	@Override
	void close();

}
