package io.tutti.engine.backend;

import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.dispatch.GroupFactory;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.p2p.MessageSettings;
import io.tutti.engine.p2p.PointToPointEngine;
import io.tutti.engine.p2p.UnexpectedMessageBudget;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.PointToPoint;
import io.tutti.engine.transport.simulated.SimulatedConnections;
import io.tutti.engine.transport.simulated.SimulatedNetwork;
import io.tutti.engine.transport.simulated.SimulatedTransport;

/**
 * Forms one simulated rank's groups.
 *
 * @param overrides algorithms that the caller chooses
 * @param unexpected budget of the rank for unexpected messages
 */
record SimulatedGroups(SimulatedNetwork network, ControlPlane control, GroupRegistry registry, Timeouts timeouts,
		AlgorithmOverrides overrides, UnexpectedMessageBudget unexpected) implements GroupFactory {

	/** Forms a group whose latch is registered. */
	DefaultProcessGroup form(GroupIdentity identity, FailureLatch latch) {
		SimulatedTransport transport = new SimulatedTransport(identity, latch, this.network);
		return this.registry
			.ready(new DefaultProcessGroup(identity, new TransportGroupBackend(transport.name(), identity, transport,
					ReductionKernels.get(), this.overrides), latch, this.control, this.timeouts, this));
	}

	@Override
	public DefaultProcessGroup group(GroupIdentity identity) {
		return this.registry.form(identity, this::form);
	}

	@Override
	public PointToPoint pointToPoint(GroupIdentity identity, FailureLatch latch) {
		return new PointToPointEngine(identity, latch, new SimulatedConnections(identity, this.network),
				new MessageSettings(false, this.timeouts.drain(), this.unexpected));
	}

}
