package io.tutti.engine.backend;

import java.time.Duration;
import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.Failure;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.control.simulated.SimulatedControl;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.dispatch.GroupFactory;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.p2p.MessageSettings;
import io.tutti.engine.p2p.PointToPointEngine;
import io.tutti.engine.p2p.UnexpectedMessageBudget;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.PointToPoint;
import io.tutti.engine.transport.shm.HostHandshake;
import io.tutti.engine.transport.shm.HostMemory;
import io.tutti.engine.transport.shm.LocalExchange;
import io.tutti.engine.transport.shm.RingConnections;
import io.tutti.engine.transport.shm.SharedMemorySettings;
import io.tutti.engine.transport.shm.ShmTransport;

/**
 * All ranks of a group in one JVM, each with its own mapping of the shared memory.
 */
final class SharedWorld implements FailureContract.MortalWorld, DepartureContract.DepartingWorld {

	/** Whether calls use in-place algorithms if possible, or always links. */
	enum Ways {

		IN_PLACE, LINKS

	}

	private static final SharedMemorySettings SETTINGS = SharedMemorySettings.of("contract");

	private record Member(DefaultProcessGroup group, ControlPlane plane, FailureLatch latch) {
	}

	/** Messages through shared memory; no subgroups. */
	private record Messages(HostMemory memory) implements GroupFactory {

		@Override
		public PointToPoint pointToPoint(GroupIdentity identity, FailureLatch latch) {
			return new PointToPointEngine(identity, latch,
					new RingConnections(this.memory, this.memory.members(), false), new MessageSettings(true,
							Timeouts.DEFAULTS.drain(), new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT)));
		}

	}

	private final SharedMemorySettings allocations;

	private final CollectiveListener events;

	private final SimulatedControl control;

	private final List<Member> members;

	SharedWorld(int worldSize, Timeouts timeouts, Ways ways) throws Exception {
		this(worldSize, timeouts, ways, SETTINGS, CollectiveListener.NONE);
	}

	/**
	 * @param allocations directory for the group's buffers
	 */
	SharedWorld(int worldSize, Timeouts timeouts, Ways ways, SharedMemorySettings allocations,
			CollectiveListener events) throws Exception {
		this.allocations = allocations;
		this.events = events;
		this.control = new SimulatedControl(worldSize);
		LocalExchange exchange = new LocalExchange(worldSize);
		this.members = RankThreads.run(worldSize, ProcessGroupContract.LIMIT,
				(rank) -> join(GroupIdentity.world(rank, worldSize, 0), exchange, timeouts, ways));
	}

	private Member join(GroupIdentity identity, LocalExchange exchange, Timeouts timeouts, Ways ways) throws Exception {
		HostMemory memory = HostHandshake.establish(identity, exchange.rank(identity.rank()), SETTINGS,
				CollectiveListener.NONE, Deadline.after(Duration.ofSeconds(30)));
		if (memory == null) {
			throw new IllegalStateException("this machine offers no shared memory");
		}
		GroupRegistry registry = new GroupRegistry(CollectiveListener.NONE);
		FailureLatch latch = registry.add(identity);
		ControlPlane plane = this.control.join(identity.rank(), registry);
		ShmTransport transport = new ShmTransport(identity, latch, memory, this.allocations, true, this.events);
		ReductionKernels kernels = ReductionKernels.get();
		DefaultProcessGroup group = new DefaultProcessGroup(identity, switch (ways) {
			case IN_PLACE ->
				new SharedMemoryGroupBackend(Backends.TCP, identity, transport, kernels, AlgorithmOverrides.NONE);
			case LINKS ->
				new TransportGroupBackend(Backends.TCP, identity, transport, kernels, AlgorithmOverrides.NONE);
		}, latch, plane, timeouts, new Messages(memory));
		registry.ready(group);
		return new Member(group, plane, latch);
	}

	@Override
	public DefaultProcessGroup group(int rank) {
		return this.members.get(rank).group();
	}

	@Override
	public void leave(int rank) {
		this.members.get(rank).group().leave();
		this.members.get(rank).plane().close();
	}

	/**
	 * Ends a rank as if its process had died: it makes no further call and is not marked
	 * as departed in shared memory.
	 */
	@Override
	public void kill(int rank) {
		Member dead = this.members.get(rank);
		dead.latch().trip(Failure.outside(Failure.Kind.ABORTED, dead.group().name(), List.of(rank), "dead"));
		this.control.kill(rank);
	}

	@Override
	public void close() {
		for (Member member : this.members) {
			member.group().close();
			member.plane().close();
		}
	}

}
