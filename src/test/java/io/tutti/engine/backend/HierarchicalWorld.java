package io.tutti.engine.backend;

import java.time.Duration;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

import io.tutti.CollectiveListener;
import io.tutti.Failure;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.algorithm.hierarchical.Hosts;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.control.simulated.SimulatedControl;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.dispatch.GroupFactory;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.p2p.MessageSettings;
import io.tutti.engine.p2p.PointToPointEngine;
import io.tutti.engine.p2p.UnexpectedMessageBudget;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.PointToPoint;
import io.tutti.engine.transport.Connections;
import io.tutti.engine.transport.shm.HostHandshake;
import io.tutti.engine.transport.shm.HostMemory;
import io.tutti.engine.transport.shm.LocalExchange;
import io.tutti.engine.transport.shm.RingConnections;
import io.tutti.engine.transport.shm.SharedMemorySettings;
import io.tutti.engine.transport.shm.ShmTransport;
import io.tutti.engine.transport.simulated.SimulatedConnections;
import io.tutti.engine.transport.simulated.SimulatedNetwork;
import io.tutti.engine.transport.simulated.SimulatedTransport;

/**
 * All ranks of a group in one JVM as if on several hosts: real shared memory between
 * ranks of one host, queues between hosts.
 */
final class HierarchicalWorld implements FailureContract.MortalWorld, DepartureContract.DepartingWorld {

	private record Member(DefaultProcessGroup group, ControlPlane plane, FailureLatch latch) {
	}

	/** Messages over both transports; subgroups use only queues. */
	private record Parts(SimulatedNetwork network, HostMemory memory, List<Integer> around, ControlPlane plane,
			GroupRegistry registry, Timeouts timeouts) implements GroupFactory {

		@Override
		public PointToPoint pointToPoint(GroupIdentity identity, FailureLatch latch) {
			Connections far = new SimulatedConnections(identity, this.network);
			Connections wires = (this.memory != null)
					? new CompositeConnections(this.around, new RingConnections(this.memory, this.around, false), far)
					: far;
			return new PointToPointEngine(identity, latch, wires, new MessageSettings(true, this.timeouts.drain(),
					new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT)));
		}

		@Override
		public DefaultProcessGroup group(GroupIdentity identity) {
			FailureLatch latch = this.registry.add(identity);
			GroupBackend queues = new TransportGroupBackend("tcp", identity,
					new SimulatedTransport(identity, latch, this.network), ReductionKernels.get(),
					AlgorithmOverrides.NONE);
			DefaultProcessGroup group = new DefaultProcessGroup(identity, queues, latch, this.plane, this.timeouts,
					new Parts(this.network, null, List.of(), this.plane, this.registry, this.timeouts));
			this.registry.ready(group);
			return group;
		}

	}

	private static final SharedMemorySettings SETTINGS = SharedMemorySettings.of("hierarchy");

	private final SimulatedNetwork network;

	private final SimulatedControl control;

	private final Hosts hosts;

	private final List<LocalExchange> exchanges;

	private final List<Member> members;

	/**
	 * @param host number of a rank's host
	 */
	HierarchicalWorld(int worldSize, Timeouts timeouts, IntUnaryOperator host) throws Exception {
		this.network = new SimulatedNetwork(worldSize);
		this.control = new SimulatedControl(worldSize);
		this.hosts = Hosts.of(IntStream.range(0, worldSize)
			.mapToObj((rank) -> IntStream.range(0, worldSize)
				.filter((other) -> host.applyAsInt(other) == host.applyAsInt(rank))
				.min()
				.orElseThrow())
			.toList());
		this.exchanges = IntStream.range(0, worldSize)
			.mapToObj((rank) -> new LocalExchange(this.hosts.around(rank).size()))
			.toList();
		this.members = RankThreads.run(worldSize, ProcessGroupContract.LIMIT,
				(rank) -> join(GroupIdentity.world(rank, worldSize, 0), timeouts));
	}

	private Member join(GroupIdentity identity, Timeouts timeouts) throws Exception {
		GroupRegistry registry = new GroupRegistry(CollectiveListener.NONE);
		FailureLatch latch = registry.add(identity);
		ControlPlane plane = this.control.join(identity.rank(), registry);
		List<Integer> around = this.hosts.around(identity.rank());
		List<Integer> across = this.hosts.across(identity.rank());
		HostMemory memory = (around.size() > 1) ? memory(identity.part("host", around)) : null;
		HierarchicalGroupBackend backend = new HierarchicalGroupBackend(identity, this.hosts,
				overQueues(identity, latch),
				(memory != null) ? overMemory(identity.part("host", around), latch, memory) : null,
				across.contains(identity.rank())
						? overQueues(identity.part("across-" + across.getFirst(), across), latch) : null,
				ReductionKernels.get());
		DefaultProcessGroup group = new DefaultProcessGroup(identity, backend, latch, plane, timeouts,
				new Parts(this.network, memory, around, plane, registry, timeouts));
		registry.ready(group);
		return new Member(group, plane, latch);
	}

	private TransportGroupBackend overQueues(GroupIdentity identity, FailureLatch latch) {
		return new TransportGroupBackend("tcp", identity, new SimulatedTransport(identity, latch, this.network),
				ReductionKernels.get(), AlgorithmOverrides.NONE);
	}

	private HostMemory memory(GroupIdentity part) throws Exception {
		LocalExchange exchange = this.exchanges.get(part.members().getFirst());
		HostMemory memory = HostHandshake.establish(part, exchange.rank(part.rank()), SETTINGS, CollectiveListener.NONE,
				Deadline.after(Duration.ofSeconds(30)));
		if (memory == null) {
			throw new IllegalStateException("this machine offers no shared memory");
		}
		return memory;
	}

	private static SharedMemoryGroupBackend overMemory(GroupIdentity part, FailureLatch latch, HostMemory memory) {
		return new SharedMemoryGroupBackend("tcp", part,
				new ShmTransport(part, latch, memory, SETTINGS, true, CollectiveListener.NONE), ReductionKernels.get(),
				AlgorithmOverrides.NONE);
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
	 * Ends a rank as if its process had died: closes its connections, does not mark it as
	 * departed in shared memory, then notifies the other ranks.
	 */
	@Override
	public void kill(int rank) {
		Member dead = this.members.get(rank);
		dead.latch().trip(Failure.outside(Failure.Kind.ABORTED, dead.group().name(), List.of(rank), "dead"));
		this.network.cut(rank);
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
