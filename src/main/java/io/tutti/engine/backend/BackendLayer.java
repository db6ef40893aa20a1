package io.tutti.engine.backend;

import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.failure.FailureReporter;
import io.tutti.engine.spi.Backend;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.MetadataExchange;

/**
 * What stands over a group's own backend and takes the calls that it can carry out
 * better.
 */
interface BackendLayer {

	/**
	 * The backend that the group is to use; owns the one beneath. Every rank of the group
	 * calls it.
	 * @param exchange how the ranks agree, in a group beside this one
	 */
	Backend over(GroupIdentity identity, Backend beneath, FailureLatch latch, FailureReporter reporter,
			MetadataExchange exchange, Deadline deadline);

}
