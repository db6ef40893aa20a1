package io.tutti.engine.backend;

import java.time.Duration;
import java.util.List;

import io.tutti.engine.CollectiveListener;
import io.tutti.engine.Deadline;
import io.tutti.engine.FailureLatch;
import io.tutti.engine.GroupIdentity;
import io.tutti.engine.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.rendezvous.ControlPlane;
import io.tutti.engine.rendezvous.SimulatedControl;
import io.tutti.engine.transport.shm.HostHandshake;
import io.tutti.engine.transport.shm.HostMemory;
import io.tutti.engine.transport.shm.LocalExchange;
import io.tutti.engine.transport.shm.SharedMemorySettings;
import io.tutti.engine.transport.shm.ShmTransport;

/**
 * All ranks of a group in one JVM, each with a mapping of its own of the memory that they
 * share.
 */
final class SharedWorld implements ProcessGroupContract.World {

	/** Whether calls go in place where they can, or always over links. */
	enum Ways {

		IN_PLACE, LINKS

	}

	private static final SharedMemorySettings SETTINGS = SharedMemorySettings.of("contract");

	private record Member(ProcessGroup group, ControlPlane plane) {
	}

	private final SimulatedControl control;

	private final List<Member> members;

	SharedWorld(int worldSize, Timeouts timeouts, Ways ways) throws Exception {
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
		FailureLatch latch = new FailureLatch();
		GroupRegistry registry = new GroupRegistry(CollectiveListener.NONE);
		registry.add(identity, latch);
		ControlPlane plane = this.control.join(identity.rank(), registry);
		ShmTransport transport = new ShmTransport(identity, latch, memory, SETTINGS, true, CollectiveListener.NONE);
		ReductionKernels kernels = ReductionKernels.get();
		ProcessGroup group = new ProcessGroup(identity, switch (ways) {
			case IN_PLACE -> new SharedMemoryBackend(identity, transport, kernels, AlgorithmOverrides.NONE);
			case LINKS -> new TransportBackend(identity, transport, kernels);
		}, latch, plane, timeouts);
		registry.ready(group);
		return new Member(group, plane);
	}

	@Override
	public ProcessGroup group(int rank) {
		return this.members.get(rank).group();
	}

	/** Says that a rank's process has died; its memory tells nobody. */
	void kill(int rank) {
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
