package io.tutti.engine.backend;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.libmpi.LibMpiGroupBackend;
import io.tutti.engine.backend.libmpi.LibMpiMessages;
import io.tutti.engine.backend.libmpi.MpiCommunicator;
import io.tutti.engine.backend.libmpi.MpiWorld;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.dispatch.GroupFactory;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupStateException;
import io.tutti.engine.spi.PointToPoint;

/**
 * Forms one rank's groups on an MPI library, each with its own communicator.
 */
final class LibMpiGroups implements GroupFactory {

	private final MpiWorld world;

	private final ControlPlane control;

	private final GroupRegistry registry;

	private final Timeouts timeouts;

	private final Map<String, MpiCommunicator> communicators = new ConcurrentHashMap<>();

	LibMpiGroups(MpiWorld world, ControlPlane control, GroupRegistry registry, Timeouts timeouts) {
		this.world = world;
		this.control = control;
		this.registry = registry;
		this.timeouts = timeouts;
	}

	/** Forms a group whose latch is registered. */
	DefaultProcessGroup form(GroupIdentity identity, FailureLatch latch) {
		MpiCommunicator communicator = this.world.communicator(identity.members(), identity.name(),
				Deadline.after(this.timeouts.rendezvous()));
		this.communicators.put(identity.name(), communicator);
		LibMpiGroupBackend backend = new LibMpiGroupBackend(Backends.MPI, identity, communicator, latch, abortGrace());
		DefaultProcessGroup group = new DefaultProcessGroup(identity, backend, latch, this.control, this.timeouts,
				this);
		this.registry.ready(group);
		return group;
	}

	/**
	 * Covers the wait for the verdict and leaves the program time to report the failure.
	 */
	private Duration abortGrace() {
		return this.timeouts.abort().multipliedBy(2);
	}

	@Override
	public DefaultProcessGroup group(GroupIdentity identity) {
		FailureLatch latch = new FailureLatch();
		this.registry.add(identity, latch);
		return form(identity, latch);
	}

	@Override
	public PointToPoint pointToPoint(GroupIdentity identity, FailureLatch latch) {
		MpiCommunicator communicator = this.communicators.get(identity.name());
		if (communicator == null) {
			throw GroupStateException.closed(identity);
		}
		return new LibMpiMessages(identity, communicator, latch, abortGrace());
	}

	@Override
	public void closed(DefaultProcessGroup group) {
		this.communicators.remove(group.name());
		this.registry.remove(group);
	}

}
