package io.tutti.engine.transport;

import java.io.IOException;

/**
 * The connections that carry one group's messages: a rank dials whoever it has something
 * to tell, at any time, and takes in whoever dials it. Used under one lock, but for
 * {@link #sleep} and {@link #wake}.
 */
public interface Connections extends AutoCloseable {

	/** Takes in connections. */
	interface Handler {

		/**
		 * A connection has come about.
		 * @param dialed whether this rank made it
		 */
		void arrived(int peer, ByteStream wire, boolean dialed);

		/**
		 * A connection that this rank wanted to make has not come about.
		 * @param cause an {@link java.net.UnknownHostException} if this rank cannot
		 * resolve the peer's host name; the peer is at fault otherwise
		 */
		void failed(int peer, IOException cause);

	}

	/** Begins to connect to a rank of the group; {@link #poll} tells what came of it. */
	void dial(int peer);

	/** Hands over the connections that have come about since the last time. */
	boolean poll(Handler handler);

	/**
	 * Tells what {@link #sleep} shall wait for: anything to read or a way unblocked.
	 * @param awaited the rank that matters most, or any negative number
	 */
	void prepareSleep(int awaited);

	/** Sleeps until something may move, at most that long; one thread at a time. */
	void sleep(long maxNanos);

	/** Ends the sleep, if any; from any thread. */
	void wake();

	@Override
	void close();

}
