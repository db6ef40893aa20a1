package io.tutti.engine.transport;

import io.tutti.engine.spi.Call;

/**
 * Moves bytes between this rank and the others of one group. Used by the thread of the
 * current call; other threads may only call {@link #wake()}.
 */
public interface Transport extends AutoCloseable {

	/** The name in properties and reports, such as {@code tcp}. */
	String name();

	/** Starts a call, whose fingerprint every link sends before its first byte. */
	void begin(Call call);

	/**
	 * The link to a rank of the group, opened on first use. It moves no bytes before it
	 * is open.
	 */
	Link link(int peer);

	/**
	 * Called after a round in which no bytes moved: spins, yields, then sleeps until
	 * bytes may move.
	 * @throws io.tutti.CollectiveException if the deadline has passed, the group is
	 * broken, a rank has left it, or the thread was interrupted
	 */
	void stalled();

	/** Called after a round in which bytes moved. */
	void moved();

	/**
	 * Called after a round, if the call needs another one.
	 * @param moved whether any bytes moved in it
	 */
	default void endRound(boolean moved) {
		if (moved) {
			moved();
		}
		else {
			stalled();
		}
	}

	/**
	 * Whether this host has fewer processors than ranks, so that a peer may have none.
	 */
	default boolean oversubscribed() {
		return false;
	}

	/** Wakes the thread that sleeps in {@link #stalled()}, if any. */
	void wake();

	@Override
	void close();

}
