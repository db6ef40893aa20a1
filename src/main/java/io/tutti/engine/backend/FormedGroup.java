package io.tutti.engine.backend;

import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.dispatch.GroupFactory;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.PointToPoint;
import io.tutti.engine.transport.shm.HostMemory;
import org.jspecify.annotations.Nullable;

/**
 * What a group that was formed asks for beside collectives.
 *
 * @param groups where it comes from
 * @param memory what its ranks of this host share; held by what carries its collectives
 * @param carriesMessages whether the group is a user's; others only agree on something
 */
record FormedGroup(Groups groups, @Nullable HostMemory memory, boolean carriesMessages) implements GroupFactory {

	@Override
	public @Nullable PointToPoint pointToPoint(GroupIdentity identity, FailureLatch latch) {
		return this.carriesMessages ? this.groups.messages(identity, latch, this.memory) : null;
	}

	@Override
	public DefaultProcessGroup group(GroupIdentity identity) {
		return this.groups.group(identity);
	}

	@Override
	public void closed(DefaultProcessGroup group) {
		this.groups.closed(group);
	}

}
