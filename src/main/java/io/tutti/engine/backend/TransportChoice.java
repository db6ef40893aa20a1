package io.tutti.engine.backend;

/**
 * What may carry a group's data.
 */
public enum TransportChoice {

	/** Shared memory where every rank proves to see the same, TCP otherwise. */
	AUTO,
	/** TCP, also inside one host. */
	TCP,
	/** Shared memory, or no group at all. */
	SHM

}
