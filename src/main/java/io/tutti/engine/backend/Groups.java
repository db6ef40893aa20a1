package io.tutti.engine.backend;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import io.tutti.BackendUnavailableException;
import io.tutti.CollectiveListener;
import io.tutti.engine.algorithm.hierarchical.Hosts;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.dispatch.GroupExchange;
import io.tutti.engine.dispatch.GroupFactory;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.p2p.MessageSettings;
import io.tutti.engine.p2p.PointToPointEngine;
import io.tutti.engine.p2p.UnexpectedMessageBudget;
import io.tutti.engine.spi.Agreement;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupSetupException;
import io.tutti.engine.spi.MetadataExchange;
import io.tutti.engine.spi.PointToPoint;
import io.tutti.engine.transport.Connections;
import io.tutti.engine.transport.shm.HostHandshake;
import io.tutti.engine.transport.shm.HostMemory;
import io.tutti.engine.transport.shm.RingConnections;
import io.tutti.engine.transport.shm.SharedMemorySettings;
import io.tutti.engine.transport.shm.ShmTransport;
import io.tutti.engine.transport.tcp.DataListener;
import io.tutti.engine.transport.tcp.TcpConnections;
import io.tutti.engine.transport.tcp.TcpSettings;
import io.tutti.engine.transport.tcp.TcpTransport;
import org.jspecify.annotations.Nullable;

/**
 * Forms one rank's groups and chooses the transport of each: shared memory between ranks
 * that have verified that they share it, TCP between the others. The ranks agree on it
 * over TCP, in a temporary setup group.
 */
final class Groups implements GroupFactory {

	/** Suffix of the setup group in which ranks choose the transports of a group. */
	static final String FORMING = "/forming";

	private static final String LAYERING = "/layering";

	private static final String WITHIN = "host";

	private static final String ACROSS = "across-";

	/**
	 * The backend of a group.
	 *
	 * @param memory memory shared with other ranks of this host
	 */
	private record Carried(GroupBackend backend, @Nullable HostMemory memory) {
	}

	private final Membership membership;

	private final EngineSettings settings;

	private final SharedConfig sharedConfig;

	private final GroupRegistry registry;

	private final DataListener listener;

	private final TcpSettings tcp;

	private final CollectiveListener events;

	private final @Nullable BackendLayer layer;

	private final UnexpectedMessageBudget unexpected = new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT);

	/**
	 * @param sharedConfig the configuration that all ranks have agreed on
	 */
	Groups(Membership membership, EngineSettings settings, SharedConfig sharedConfig, GroupRegistry registry,
			DataListener listener, TcpSettings tcp, CollectiveListener events, @Nullable BackendLayer layer) {
		this.layer = layer;
		this.membership = membership;
		this.settings = settings;
		this.sharedConfig = sharedConfig;
		this.registry = registry;
		this.listener = listener;
		this.tcp = tcp;
		this.events = events;
	}

	/**
	 * Forms a group whose latch is registered.
	 * @throws GroupSetupException if resource allocation fails
	 */
	DefaultProcessGroup form(GroupIdentity identity, FailureLatch latch) {
		try {
			Carried carried = someShareAHost(identity) ? sharing(identity, latch)
					: new Carried(overTcp(identity, latch), null);
			return ready(identity, layered(identity, latch, carried.backend()), latch,
					new FormedGroup(this, carried.memory()));
		}
		catch (IOException ex) {
			throw new GroupSetupException(identity, "it could not be set up", ex);
		}
	}

	private GroupBackend layered(GroupIdentity identity, FailureLatch latch, GroupBackend beneath) throws IOException {
		if (this.layer == null) {
			return beneath;
		}
		try (DefaultProcessGroup layering = beside(identity, LAYERING)) {
			return this.layer.over(identity, beneath, latch, this.membership.control(),
					new GroupExchange(layering, Agreement.FORM), Deadline.after(this.settings.timeouts().rendezvous()));
		}
		catch (RuntimeException ex) {
			beneath.close();
			throw ex;
		}
	}

	@Override
	public DefaultProcessGroup group(GroupIdentity identity) {
		return form(identity, this.registry.add(identity));
	}

	/**
	 * Opens a group's messages.
	 * @param memory memory shared with other ranks of this host, if any
	 */
	PointToPoint messages(GroupIdentity identity, FailureLatch latch, @Nullable HostMemory memory) {
		try {
			return new PointToPointEngine(identity, latch, connections(identity, memory),
					new MessageSettings(this.tcp.oversubscribed(), this.settings.timeouts().drain(), this.unexpected));
		}
		catch (IOException ex) {
			throw new GroupSetupException(identity, "its messages could not be set up", ex);
		}
	}

	private Connections connections(GroupIdentity identity, @Nullable HostMemory memory) throws IOException {
		if (memory != null && memory.members().size() == identity.worldSize()) {
			return new RingConnections(memory, memory.members());
		}
		Connections overTcp = new TcpConnections(identity, this.membership.roster(), this.listener,
				this.membership.sessionKey(), this.tcp, this.events);
		return (memory != null)
				? new CompositeConnections(memory.members(), new RingConnections(memory, memory.members()), overTcp)
				: overTcp;
	}

	private DefaultProcessGroup ready(GroupIdentity identity, GroupBackend backend, FailureLatch latch,
			GroupFactory formed) {
		return this.registry.ready(new DefaultProcessGroup(identity, backend, latch, this.membership.control(),
				this.settings.timeouts(), formed));
	}

	/** Forms a setup group of the same ranks over TCP. */
	private DefaultProcessGroup beside(GroupIdentity identity, String suffix) throws IOException {
		GroupIdentity side = identity.other(identity.name() + suffix, identity.rank(), identity.members());
		FailureLatch latch = this.registry.add(side);
		return ready(side, overTcp(side, latch), latch, NONE);
	}

	private GroupBackend overTcp(GroupIdentity identity, FailureLatch latch) throws IOException {
		TcpTransport transport = new TcpTransport(identity, latch, this.membership.roster(), this.listener,
				this.membership.sessionKey(), this.tcp, this.events);
		return new TransportGroupBackend(this.settings.backend(), identity, transport, ReductionKernels.get(),
				this.sharedConfig.algorithms());
	}

	private GroupBackend overMemory(GroupIdentity identity, FailureLatch latch, HostMemory memory) {
		ShmTransport transport = new ShmTransport(identity, latch, memory,
				SharedMemorySettings.of(this.settings.jobId()), this.tcp.oversubscribed(), this.events);
		return new SharedMemoryGroupBackend(this.settings.backend(), identity, transport, ReductionKernels.get(),
				this.sharedConfig.algorithms());
	}

	/** Determines which ranks share memory, in a setup group. */
	private Carried sharing(GroupIdentity identity, FailureLatch latch) throws IOException {
		try (DefaultProcessGroup forming = beside(identity, FORMING)) {
			MetadataExchange exchange = new GroupExchange(forming, Agreement.FORM);
			Deadline deadline = Deadline.after(this.settings.timeouts().rendezvous());
			HostMemory memory = HostHandshake.establish(identity, exchange, memorySettings(), this.events, deadline);
			int leader = (memory != null) ? memory.members().getFirst() : identity.rank();
			Hosts hosts = Hosts.of(leaders(exchange.allGather(ofInt(leader), deadline)));
			forming.barrier();
			requireWhatWasAskedFor(identity, hosts, memory);
			return new Carried(onHosts(identity, latch, hosts, memory), memory);
		}
	}

	private GroupBackend onHosts(GroupIdentity identity, FailureLatch latch, Hosts hosts, @Nullable HostMemory memory)
			throws IOException {
		if (hosts.count() == identity.worldSize()) {
			return overTcp(identity, latch);
		}
		if (memory != null && hosts.count() == 1) {
			return overMemory(identity, latch, memory);
		}
		List<Integer> across = hosts.across(identity.rank());
		return new HierarchicalGroupBackend(identity, hosts, overTcp(identity, latch),
				(memory != null) ? overMemory(identity.part(WITHIN, memory.members()), latch, memory) : null,
				across.contains(identity.rank()) ? overTcp(identity.part(ACROSS + across.getFirst(), across), latch)
						: null,
				ReductionKernels.get());
	}

	private static byte[] ofInt(int value) {
		return ByteBuffer.allocate(Integer.BYTES).putInt(value).array();
	}

	/** The lowest rank of each rank's host, by rank. */
	private static List<Integer> leaders(byte[][] given) throws IOException {
		List<Integer> leaders = new ArrayList<>();
		for (int rank = 0; rank < given.length; rank++) {
			int leader = (given[rank].length == Integer.BYTES) ? ByteBuffer.wrap(given[rank]).getInt() : -1;
			if (leader < 0 || leader > rank) {
				throw new IOException(
						"rank " + rank + " must name a rank in 0.." + rank + " of its host, named " + leader);
			}
			leaders.add(leader);
		}
		return leaders;
	}

	private void requireWhatWasAskedFor(GroupIdentity identity, Hosts hosts, @Nullable HostMemory memory) {
		if (hosts.count() > 1 && this.sharedConfig.transport() == TransportChoice.SHM) {
			if (memory != null) {
				memory.close();
			}
			throw new BackendUnavailableException(this.settings.backend(),
					"the ranks of group " + identity.name()
							+ " do not all share memory, and tutti.transport.kind=shm allows nothing else",
					"Set tutti.transport.kind to auto");
		}
	}

	private SharedMemorySettings memorySettings() {
		return switch (this.sharedConfig.transport()) {
			case AUTO, SHM -> new SharedMemorySettings(true, SharedMemorySettings.DEFAULT_DIRECTORY,
					this.settings.jobId(), this.sharedConfig.crossMemoryAttach());
			case TCP -> SharedMemorySettings.disabled();
		};
	}

	private boolean someShareAHost(GroupIdentity identity) {
		List<PeerAddress> roster = this.membership.roster();
		return identity.members().stream().map((rank) -> roster.get(rank).hostIdentity()).distinct().count() < identity
			.worldSize();
	}

}
