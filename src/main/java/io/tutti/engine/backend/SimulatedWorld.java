package io.tutti.engine.backend;

import java.util.ArrayList;
import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.control.simulated.SimulatedControl;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.p2p.UnexpectedMessageBudget;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.simulated.SimulatedNetwork;

/**
 * All ranks of a group in one JVM, each driven by one of the caller's threads.
 * Algorithms, issue order, deadlines and failures are the same as between processes;
 * queues replace the connections.
 */
public final class SimulatedWorld implements AutoCloseable {

	private final SimulatedNetwork network;

	private final SimulatedControl control;

	private final List<GroupRegistry> registries = new ArrayList<>();

	private final List<DefaultProcessGroup> groups = new ArrayList<>();

	private final List<ControlPlane> planes = new ArrayList<>();

	/** A formed group. */
	public SimulatedWorld(int worldSize, Timeouts timeouts) {
		this(worldSize, timeouts, AlgorithmOverrides.NONE);
	}

	/** A formed group with algorithms that the caller chooses. */
	public SimulatedWorld(int worldSize, Timeouts timeouts, AlgorithmOverrides overrides) {
		this.network = new SimulatedNetwork(worldSize);
		this.control = new SimulatedControl(worldSize);
		for (int rank = 0; rank < worldSize; rank++) {
			GroupRegistry registry = new GroupRegistry(CollectiveListener.NONE);
			GroupIdentity identity = GroupIdentity.world(rank, worldSize, 0);
			FailureLatch latch = registry.add(identity);
			ControlPlane plane = this.control.join(rank, registry);
			DefaultProcessGroup group = new SimulatedGroups(this.network, plane, registry, timeouts, overrides,
					new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT))
				.form(identity, latch);
			this.registries.add(registry);
			this.planes.add(plane);
			this.groups.add(group);
		}
	}

	/** A rank's group. */
	public DefaultProcessGroup group(int rank) {
		return this.groups.get(rank);
	}

	/** A rank's control plane. */
	public ControlPlane control(int rank) {
		return this.planes.get(rank);
	}

	/**
	 * Ends a rank as if its process had died: closes its connections, then notifies the
	 * other ranks.
	 */
	public void kill(int rank) {
		this.network.cut(rank);
		this.control.kill(rank);
	}

	@Override
	public void close() {
		List<Runnable> parts = new ArrayList<>();
		this.registries.forEach((registry) -> parts.add(registry::closeSubgroups));
		this.groups.forEach((group) -> parts.add(group::close));
		this.planes.forEach((plane) -> parts.add(plane::close));
		CleanUp.runAll(parts);
	}

}
