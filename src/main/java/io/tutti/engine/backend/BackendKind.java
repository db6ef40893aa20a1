package io.tutti.engine.backend;

import io.tutti.CollectiveListener;
import io.tutti.engine.RankAssignment;

/**
 * A backend that can be asked for by name.
 */
interface BackendKind {

	/** The name people type and read, such as {@code tcp}. */
	String name();

	/**
	 * Whether this process can use it; looks, but starts and joins nothing. May take some
	 * 100 ms.
	 */
	Availability availability(EngineSettings settings);

	/**
	 * Meets the other ranks and forms the group of all; only where it is available.
	 * @throws io.tutti.engine.control.RendezvousException if the ranks do not meet or
	 * this one is refused
	 */
	Engine join(RankAssignment assignment, EngineSettings settings, CollectiveListener events);

}
