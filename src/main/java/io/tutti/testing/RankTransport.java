package io.tutti.testing;

/**
 * What carries the data between the ranks of a test.
 */
public enum RankTransport {

	/** Queues between threads: fast, exact, opens no sockets. */
	SIMULATED,
	/** Loopback connections and a real meeting point, as between processes. */
	TCP

}
