package io.tutti.engine.backend;

import io.tutti.engine.Backend;
import io.tutti.engine.Deadline;
import io.tutti.engine.MetadataExchange;
import io.tutti.engine.FailureLatch;
import io.tutti.engine.FailureReporter;
import io.tutti.engine.GroupIdentity;

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
