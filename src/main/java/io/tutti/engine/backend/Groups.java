package io.tutti.engine.backend;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

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
import io.tutti.engine.spi.CleanUp;
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

	/**
	 * Suffix of the setup group in which ranks choose the transports and the layer of a
	 * group.
	 */
	static final String FORMING = "/forming";

	private static final String WITHIN = "host";

	private static final String ACROSS = "across-";

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
	 * @throws BackendUnavailableException if shared memory is required and the ranks do
	 * not all share it
	 */
	DefaultProcessGroup form(GroupIdentity identity, FailureLatch latch) {
		boolean sharing = mayShareMemory(identity);
		try {
			if (!sharing && this.layer == null) {
				return ready(identity, overTcp(identity, latch), latch, new Formed(null));
			}
			try (DefaultProcessGroup setup = setup(identity)) {
				MetadataExchange exchange = new GroupExchange(setup, Agreement.FORM);
				Deadline deadline = Deadline.after(this.settings.timeouts().rendezvous());
				try (HostMemory memory = sharing
						? HostHandshake.establish(identity, exchange, memorySettings(), this.events, deadline) : null) {
					GroupBackend backend = sharing
							? onHosts(identity, latch, hosts(identity, memory, exchange, deadline), memory)
							: overTcp(identity, latch);
					backend = layered(identity, latch, backend, setup, exchange, deadline);
					return ready(identity, backend, latch, new Formed(memory));
				}
			}
		}
		catch (IOException ex) {
			throw new GroupSetupException(identity, "it could not be set up", ex);
		}
	}

	/** The backend with the layer over it, if any, once all ranks have theirs. */
	private GroupBackend layered(GroupIdentity identity, FailureLatch latch, GroupBackend beneath,
			DefaultProcessGroup setup, MetadataExchange exchange, Deadline deadline) {
		return CleanUp.orElse(() -> {
			setup.withTimeout(deadline.remaining()).barrier();
			return (this.layer != null)
					? this.layer.over(identity, beneath, latch, this.membership.control(), exchange, deadline)
					: beneath;
		}, beneath::close);
	}

	@Override
	public DefaultProcessGroup group(GroupIdentity identity) {
		return this.registry.form(identity, this::form);
	}

	private PointToPoint messages(GroupIdentity identity, FailureLatch latch, Connections connections) {
		return CleanUp.orElse(
				() -> new PointToPointEngine(identity, latch, connections, new MessageSettings(
						this.tcp.oversubscribed(), this.settings.timeouts().drain(), this.unexpected)),
				connections::close);
	}

	private Connections connections(GroupIdentity identity, @Nullable HostMemory memory) throws IOException {
		if (memory != null && memory.members().size() == identity.worldSize()) {
			return new RingConnections(memory, memory.members(), this.tcp.oversubscribed());
		}
		Connections overTcp = new TcpConnections(identity, this.membership.roster(), this.listener,
				this.membership.sessionKey(), this.tcp, this.events);
		if (memory == null) {
			return overTcp;
		}
		return CleanUp.orElse(
				() -> new CompositeConnections(memory.members(),
						new RingConnections(memory, memory.members(), this.tcp.oversubscribed()), overTcp),
				overTcp::close);
	}

	private DefaultProcessGroup ready(GroupIdentity identity, GroupBackend backend, FailureLatch latch,
			GroupFactory formed) {
		return CleanUp.orElse(() -> this.registry.ready(new DefaultProcessGroup(identity, backend, latch,
				this.membership.control(), this.settings.timeouts(), formed)), backend::close);
	}

	/**
	 * Forms a setup group of the same ranks over TCP, which moves little. Those that have
	 * formed it would wait for a rank that cannot.
	 */
	private DefaultProcessGroup setup(GroupIdentity identity) {
		GroupIdentity side = identity.other(identity.name() + FORMING, identity.rank(), identity.members());
		return this.registry.form(side, (_, latch) -> {
			try {
				return ready(side, overTcp(side, latch, this.tcp.withSystemCongestionControl()), latch, NONE);
			}
			catch (IOException ex) {
				reportUnformed(side, ex);
				throw new GroupSetupException(identity, "it could not be set up", ex);
			}
			catch (RuntimeException | Error ex) {
				reportUnformed(side, ex);
				throw ex;
			}
		});
	}

	private void reportUnformed(GroupIdentity identity, Throwable cause) {
		this.membership.control().report(identity.aborted("it could not form the group: " + CleanUp.message(cause)));
	}

	private GroupBackend overTcp(GroupIdentity identity, FailureLatch latch) throws IOException {
		return overTcp(identity, latch, this.tcp);
	}

	private GroupBackend overTcp(GroupIdentity identity, FailureLatch latch, TcpSettings tcp) throws IOException {
		TcpTransport transport = new TcpTransport(identity, latch, this.membership.roster(), this.listener,
				this.membership.sessionKey(), tcp, this.events);
		return new TransportGroupBackend(this.settings.backend(), identity, transport, ReductionKernels.get(),
				this.sharedConfig.algorithms());
	}

	private GroupBackend overMemory(GroupIdentity identity, FailureLatch latch, HostMemory memory) {
		HostMemory own = memory.share();
		return CleanUp.orElse(() -> {
			ShmTransport transport = new ShmTransport(identity, latch, own,
					SharedMemorySettings.of(this.settings.jobId()), this.tcp.oversubscribed(), this.events);
			return new SharedMemoryGroupBackend(this.settings.backend(), identity, transport, ReductionKernels.get(),
					this.sharedConfig.algorithms());
		}, own::close);
	}

	/** Exchanges which ranks share memory. */
	private Hosts hosts(GroupIdentity identity, @Nullable HostMemory memory, MetadataExchange exchange,
			Deadline deadline) throws IOException {
		int leader = (memory != null) ? memory.members().getFirst() : identity.rank();
		Hosts hosts = Hosts.of(leaders(exchange.allGather(ofInt(leader), deadline)));
		if (!allows(hosts.count())) {
			throw sharedMemoryUnavailable(identity, "Free memory in " + memorySettings().directory()
					+ " (the log has the reason), or set tutti.transport.kind to auto");
		}
		return hosts;
	}

	private GroupBackend onHosts(GroupIdentity identity, FailureLatch latch, Hosts hosts, @Nullable HostMemory memory)
			throws IOException {
		if (hosts.count() == identity.worldSize()) {
			return overTcp(identity, latch);
		}
		if (memory != null && hosts.count() == 1) {
			return overMemory(identity, latch, memory);
		}
		return hierarchical(identity, latch, hosts, memory);
	}

	private GroupBackend hierarchical(GroupIdentity identity, FailureLatch latch, Hosts hosts,
			@Nullable HostMemory memory) throws IOException {
		List<Integer> across = hosts.across(identity.rank());
		GroupBackend flat = overTcp(identity, latch);
		GroupBackend within = null;
		GroupBackend leaders = null;
		try {
			within = (memory != null) ? overMemory(identity.part(WITHIN, memory.members()), latch, memory) : null;
			leaders = across.contains(identity.rank())
					? overTcp(identity.part(ACROSS + across.getFirst(), across), latch) : null;
			return new HierarchicalGroupBackend(identity, hosts, flat, within, leaders, ReductionKernels.get());
		}
		catch (IOException | RuntimeException | Error ex) {
			CleanUp.after(ex,
					Stream.of(leaders, within, flat)
						.filter(Objects::nonNull)
						.<Runnable>map((level) -> level::close)
						.toList());
			throw ex;
		}
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

	/**
	 * Whether some ranks of the group are on one host, according to the rank table, and
	 * the configuration lets them share memory. The same on every rank.
	 */
	private boolean mayShareMemory(GroupIdentity identity) {
		List<PeerAddress> roster = this.membership.roster();
		int hosts = (int) identity.members().stream().map((rank) -> roster.get(rank).hostIdentity()).distinct().count();
		if (!allows(hosts)) {
			throw sharedMemoryUnavailable(identity, "Set tutti.transport.kind to auto");
		}
		return hosts < identity.worldSize() && this.sharedConfig.transport() != TransportChoice.TCP;
	}

	private BackendUnavailableException sharedMemoryUnavailable(GroupIdentity identity, String action) {
		return new BackendUnavailableException(this.settings.backend(),
				"the ranks of group " + identity.name()
						+ " do not all share memory, and tutti.transport.kind=shm allows nothing else",
				action)
			.onRank(identity.worldRank(), identity.jobSize());
	}

	private boolean allows(int hosts) {
		return hosts == 1 || this.sharedConfig.transport() != TransportChoice.SHM;
	}

	private SharedMemorySettings memorySettings() {
		return new SharedMemorySettings(SharedMemorySettings.DEFAULT_DIRECTORY, this.settings.jobId(),
				this.sharedConfig.crossMemoryAttach() && this.settings.sharedConfig().crossMemoryAttach());
	}

	/** Creates the messages and subgroups of a formed group. */
	private final class Formed implements GroupFactory {

		private final @Nullable HostMemory memory;

		/**
		 * @param memory memory shared with ranks of this host, if any; owned by the
		 * backend of the group
		 */
		Formed(@Nullable HostMemory memory) {
			this.memory = memory;
		}

		@Override
		public PointToPoint pointToPoint(GroupIdentity identity, FailureLatch latch) {
			try {
				return messages(identity, latch, connections(identity, this.memory));
			}
			catch (IOException ex) {
				throw new GroupSetupException(identity, "its messages could not be set up", ex);
			}
		}

		@Override
		public DefaultProcessGroup group(GroupIdentity identity) {
			return Groups.this.group(identity);
		}

	}

}
