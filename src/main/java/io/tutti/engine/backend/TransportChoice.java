package io.tutti.engine.backend;

/**
 * The transports that may be used for a group's data.
 */
public enum TransportChoice {

	/** Shared memory between ranks that verify that they share it, TCP otherwise. */
	AUTO,
	/** TCP, also within one host. */
	TCP,
	/** Shared memory only; otherwise the group cannot be formed. */
	SHM

}
