package io.tutti.testing;

/**
 * Transport between the ranks of a test.
 */
public enum RankTransport {

	/** Queues between threads: fast and deterministic, without sockets. */
	SIMULATED,
	/** TCP over loopback with a real rendezvous, as between processes. */
	TCP

}
