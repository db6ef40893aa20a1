package io.tutti.engine.backend;

import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.failure.FailureReporter;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.MetadataExchange;

/**
 * A layer over a group's backend that executes the calls for which it is faster.
 */
interface BackendLayer {

	/**
	 * Creates the backend for the group; it owns the backend beneath. Every rank of the
	 * group calls it.
	 * @param exchange exchanges metadata between the ranks, over a separate group
	 */
	GroupBackend over(GroupIdentity identity, GroupBackend beneath, FailureLatch latch, FailureReporter reporter,
			MetadataExchange exchange, Deadline deadline);

}
