package io.tutti.engine.backend;

import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.dispatch.GroupFactory;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.PointToPoint;
import io.tutti.engine.transport.shm.HostMemory;
import org.jspecify.annotations.Nullable;

/**
 * Creates the messages and subgroups of a formed group.
 *
 * @param groups the factory of the group
 * @param memory memory shared with ranks of this host; owned by the backend of the group
 */
record FormedGroup(Groups groups, @Nullable HostMemory memory) implements GroupFactory {

	@Override
	public PointToPoint pointToPoint(GroupIdentity identity, FailureLatch latch) {
		return this.groups.messages(identity, latch, this.memory);
	}

	@Override
	public DefaultProcessGroup group(GroupIdentity identity) {
		return this.groups.group(identity);
	}

}
