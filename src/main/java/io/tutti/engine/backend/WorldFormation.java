package io.tutti.engine.backend;

import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;

import io.tutti.engine.Backend;
import io.tutti.engine.BackendUnavailableException;
import io.tutti.engine.CollectiveListener;
import io.tutti.engine.Deadline;
import io.tutti.engine.FailureLatch;
import io.tutti.engine.GroupExchange;
import io.tutti.engine.GroupIdentity;
import io.tutti.engine.ProcessGroup;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.rendezvous.Membership;
import io.tutti.engine.rendezvous.PeerAddress;
import io.tutti.engine.transport.shm.HostHandshake;
import io.tutti.engine.transport.shm.HostMemory;
import io.tutti.engine.transport.shm.SharedMemorySettings;
import io.tutti.engine.transport.shm.ShmTransport;
import io.tutti.engine.transport.tcp.DataListener;
import io.tutti.engine.transport.tcp.TcpSettings;
import io.tutti.engine.transport.tcp.TcpTransport;
import org.jspecify.annotations.Nullable;

/**
 * Chooses what carries the group that holds every rank: shared memory where all ranks
 * have proven that they see the same, TCP otherwise. What the ranks say to each other
 * about it goes over TCP, in a group of its own that ends with the choice.
 */
final class WorldFormation {

	private static final String FORMING = "forming";

	private final Membership membership;

	private final EngineSettings settings;

	private final GroupRegistry registry;

	private final DataListener listener;

	private final TcpSettings tcp;

	private final CollectiveListener events;

	WorldFormation(Membership membership, EngineSettings settings, GroupRegistry registry, DataListener listener,
			TcpSettings tcp, CollectiveListener events) {
		this.membership = membership;
		this.settings = settings;
		this.registry = registry;
		this.listener = listener;
		this.tcp = tcp;
		this.events = events;
	}

	/** The group; the latch must be known to the registry under its name. */
	ProcessGroup form(FailureLatch latch) throws IOException {
		GroupIdentity identity = GroupIdentity.world(this.membership.assignment().rank(),
				this.membership.assignment().worldSize(), this.membership.generation());
		HostMemory memory = someShareAHost() ? proveMemory(identity) : null;
		if (memory == null && this.settings.transport() == TransportChoice.SHM && identity.worldSize() > 1) {
			throw new BackendUnavailableException("the ranks do not all share memory, and tutti.transport.kind=shm"
					+ " allows nothing else; set it to auto");
		}
		ProcessGroup world = new ProcessGroup(identity, backend(identity, latch, memory), latch,
				this.membership.control(), this.settings.timeouts());
		this.registry.ready(world);
		return world;
	}

	private Backend backend(GroupIdentity identity, FailureLatch latch, @Nullable HostMemory memory)
			throws IOException {
		if (memory == null) {
			return new TransportBackend(identity, tcp(identity, latch), ReductionKernels.get());
		}
		ShmTransport transport = new ShmTransport(identity, latch, memory,
				SharedMemorySettings.of(this.settings.jobId()), this.tcp.crowded(), this.events);
		return new SharedMemoryBackend(identity, transport, ReductionKernels.get(), AlgorithmOverrides.NONE);
	}

	/** Memory that every rank of the group sees, or {@code null}. */
	private @Nullable HostMemory proveMemory(GroupIdentity world) throws IOException {
		GroupIdentity identity = new GroupIdentity(FORMING, world.rank(), world.members(), world.generation());
		FailureLatch latch = new FailureLatch();
		this.registry.add(identity, latch);
		try (ProcessGroup forming = new ProcessGroup(identity,
				new TransportBackend(identity, tcp(identity, latch), ReductionKernels.get()), latch,
				this.membership.control(), this.settings.timeouts())) {
			this.registry.ready(forming);
			HostMemory memory = HostHandshake.establish(world, new GroupExchange(forming), memorySettings(),
					this.events, Deadline.after(this.settings.timeouts().rendezvous()));
			forming.barrier();
			return everybodys(memory, world);
		}
		finally {
			this.registry.remove(identity);
		}
	}

	private static @Nullable HostMemory everybodys(@Nullable HostMemory memory, GroupIdentity world) {
		if (memory != null && memory.members().size() < world.worldSize()) {
			memory.close();
			return null;
		}
		return memory;
	}

	private SharedMemorySettings memorySettings() {
		return switch (this.settings.transport()) {
			case AUTO, SHM -> SharedMemorySettings.of(this.settings.jobId());
			case TCP -> SharedMemorySettings.disabled();
		};
	}

	private TcpTransport tcp(GroupIdentity identity, FailureLatch latch) throws IOException {
		return new TcpTransport(identity, latch, this.membership.roster(), this.listener, this.membership.sessionKey(),
				this.tcp, this.events);
	}

	private boolean someShareAHost() {
		List<PeerAddress> roster = this.membership.roster();
		return roster.stream().map(PeerAddress::hostIdentity).collect(Collectors.toSet()).size() < roster.size();
	}

}
