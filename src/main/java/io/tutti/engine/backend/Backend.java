package io.tutti.engine.backend;

import io.tutti.CollectiveListener;
import io.tutti.engine.RankAssignment;

/**
 * Describes one kind of backend, and joins a job with it. Exists before rendezvous and
 * holds no connections: each {@link #join} creates an {@link Engine}, whose groups run
 * their calls on objects of their own.
 */
public interface Backend {

	/** The name in configuration and output, such as {@code tcp}. */
	String name();

	/**
	 * Whether this process can use the backend. Only probes; starts and joins nothing.
	 * May take about 100 ms.
	 */
	Availability availability(EngineSettings settings);

	/**
	 * Joins the other ranks and forms the group of all ranks. The backend must be
	 * available.
	 * @throws io.tutti.engine.control.RendezvousException if the rendezvous fails or this
	 * rank is rejected
	 */
	Engine join(RankAssignment assignment, EngineSettings settings, CollectiveListener events);

}
