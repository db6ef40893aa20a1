package io.tutti.engine.backend;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.tutti.BackendUnavailableException;
import io.tutti.Collective;
import io.tutti.CollectiveListener;
import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.bootstrap.Endpoint.NameService;
import io.tutti.engine.bootstrap.Rendezvous;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.control.LocalAddress;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.RendezvousSettings;
import io.tutti.engine.diagnosis.RankTrace;
import io.tutti.engine.dispatch.CallTotals;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.dispatch.GroupFactory;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.tcp.DataListener;
import io.tutti.engine.transport.tcp.TcpSettings;
import org.jspecify.annotations.Nullable;

/**
 * One rank's engine: the group that holds every rank, the control plane, and the order in
 * which they are closed.
 */
public final class Engine implements JoinedGroup {

	private static final Duration WARM_UP = Duration.ofMillis(500);

	private static final AtomicBoolean WARM = new AtomicBoolean();

	/**
	 * How long the first data connection to a rank may take, or a heartbeat if longer.
	 */
	private static final Duration LEAST_CONNECT = Duration.ofSeconds(30);

	private static final byte[] RUN_ID = "tutti: run id".getBytes(StandardCharsets.US_ASCII);

	private final Membership membership;

	private final GroupRegistry registry;

	private final DefaultProcessGroup world;

	private final GroupFactory groups;

	private final JobRuntime runtime;

	/** An engine that cannot form groups beside the group of all ranks. */
	Engine(Membership membership, GroupRegistry registry, DefaultProcessGroup world, JobRuntime runtime) {
		this(membership, registry, world, GroupFactory.NONE, runtime);
	}

	private Engine(Membership membership, GroupRegistry registry, DefaultProcessGroup world, GroupFactory groups,
			JobRuntime runtime) {
		this.membership = membership;
		this.registry = registry;
		this.world = world;
		this.groups = groups;
		this.runtime = runtime;
	}

	/**
	 * Joins the other ranks and forms the group on the backend named in the settings.
	 * Returns when every rank has joined.
	 * @throws BackendUnavailableException if that backend cannot be used here
	 * @throws RendezvousException if the rendezvous fails or this rank is rejected
	 */
	public static Engine join(RankAssignment assignment, EngineSettings settings, CollectiveListener events) {
		try {
			Backends.requireAvailable(settings);
			return Backends.of(settings.backend()).join(assignment, settings, events);
		}
		catch (BackendUnavailableException ex) {
			throw ex.onRank(assignment.rank(), assignment.worldSize());
		}
	}

	/**
	 * Joins the other ranks and forms a generation of an elastic group with the built-in
	 * algorithms, whatever the backend in the settings.
	 * @throws RendezvousException if the rendezvous fails or this rank is rejected
	 */
	public static Engine joinElastic(RankAssignment assignment, EngineSettings settings, CollectiveListener events) {
		return bootstrap(assignment, settings, events, null, true);
	}

	/**
	 * Joins the other ranks and forms a group with the built-in algorithms.
	 * @param layer over the backend of each group, {@code null} for none
	 */
	static Engine bootstrap(RankAssignment assignment, EngineSettings settings, CollectiveListener events,
			@Nullable BackendLayer layer) {
		return bootstrap(assignment, settings, events, layer, false);
	}

	private static Engine bootstrap(RankAssignment assignment, EngineSettings settings, CollectiveListener events,
			@Nullable BackendLayer layer, boolean elastic) {
		warmUp(assignment);
		DataListener listener = listen(assignment, settings);
		Membership membership = null;
		try {
			GroupRegistry registry = new GroupRegistry(events);
			FailureLatch latch = registry.add(GroupIdentity.world(assignment.rank(), assignment.worldSize(), 0));
			membership = Rendezvous.join(assignment, rendezvous(settings, listener.port()), registry,
					Deadline.after(settings.timeouts().rendezvous()));
			listener.start(assignment.rank(), membership.sessionKey(), settings.tls());
			GroupIdentity identity = GroupIdentity.world(assignment.rank(), assignment.worldSize(),
					membership.generation());
			identity = elastic ? identity.ofElasticJob() : identity;
			Groups groups = new Groups(membership, settings, agreed(membership, settings, events), registry, listener,
					tcp(membership, settings), events, layer);
			return new Engine(membership, registry, groups.form(identity, latch), groups, listener::close);
		}
		catch (RuntimeException | Error ex) {
			closeAfter(ex, listener, membership);
			throw ex;
		}
	}

	/**
	 * Compiles the kernel of the first reductions during the first rendezvous of the
	 * process.
	 */
	private static void warmUp(RankAssignment assignment) {
		if (WARM.getAndSet(true)) {
			return;
		}
		Thread.ofPlatform()
			.name("tutti-r" + assignment.rank() + "-warm-up")
			.daemon()
			.start(() -> ReductionKernels.get().warmUp(DataType.FLOAT32, ReduceOp.SUM, WARM_UP));
	}

	/** Rank 0's configuration, which applies to all ranks. */
	private static SharedConfig agreed(Membership membership, EngineSettings settings, CollectiveListener events) {
		SharedConfig agreed = configOfRankZero(membership);
		if (!membership.sharedConfig().equals(settings.sharedConfig().toString())) {
			events.warn("rank " + membership.assignment().rank() + " was set up for "
					+ settings.sharedConfig().describe() + ", rank 0 for " + agreed.describe()
					+ ": rank 0's counts for all, but where one rank has turned "
					+ "cross-memory attach off, no rank of its group uses it. Give all ranks the same "
					+ "tutti.transport.kind, tutti.transport.cross-memory-attach and tutti.collective.algorithms");
		}
		return agreed;
	}

	private static SharedConfig configOfRankZero(Membership membership) {
		try {
			return SharedConfig.parse(membership.sharedConfig());
		}
		catch (IllegalArgumentException ex) {
			throw new RendezvousException(membership.assignment(), RendezvousException.Reason.PROTOCOL,
					"rank 0 asks for what this rank does not know: " + ex.getMessage()
							+ ". Run the same version on all ranks",
					List.of(), ex);
		}
	}

	private static void closeAfter(Throwable failure, DataListener listener, @Nullable Membership membership) {
		CleanUp.after(failure, List.of(listener::close, () -> {
			if (membership != null) {
				membership.control().close();
			}
		}));
	}

	private static DataListener listen(RankAssignment assignment, EngineSettings settings) {
		try {
			return open(dataAddress(assignment, settings, NameService.SYSTEM), settings.dataPort(), assignment);
		}
		catch (IOException ex) {
			throw noListener(assignment, ex);
		}
	}

	/**
	 * Where to listen; {@code null} for everywhere. Nobody connects to a single rank. A
	 * name of rank 0's host that does not resolve yet is not treated as loopback: that
	 * host may still be starting. The name of a host may be a loopback address on that
	 * host only, so that ranks of other hosts need more than loopback, unless the address
	 * is literally loopback. Without a token that takes a bind address, which needs one
	 * or permission to go without.
	 */
	static @Nullable InetAddress dataAddress(RankAssignment assignment, EngineSettings settings, NameService names) {
		String chosen = settings.dataAddress();
		String bind = settings.bindAddress();
		if (chosen != null) {
			return ownAddresses(assignment, chosen, names)[0];
		}
		if (assignment.worldSize() == 1) {
			return InetAddress.getLoopbackAddress();
		}
		InetAddress[] master;
		try {
			master = names.addressesOf(assignment.masterAddress());
		}
		catch (UnknownHostException ex) {
			return null;
		}
		boolean oneHost = assignment.localWorldSize() == assignment.worldSize() || settings.token() == null
				|| Endpoint.isLoopback(assignment.masterAddress());
		return (oneHost && isLoopback(master) && (bind == null || isLoopback(ownAddresses(assignment, bind, names))))
				? LocalAddress.firstOf(master) : null;
	}

	private static InetAddress[] ownAddresses(RankAssignment assignment, String host, NameService names) {
		try {
			return names.addressesOf(host);
		}
		catch (UnknownHostException ex) {
			throw new RendezvousException(assignment, RendezvousException.Reason.ADDRESS,
					"the address " + host + " of this rank is not known. Correct tutti.rendezvous.bind-address or "
							+ "tutti.network.interface",
					List.of(), ex);
		}
	}

	private static boolean isLoopback(InetAddress[] addresses) {
		return Arrays.stream(addresses).allMatch(InetAddress::isLoopbackAddress);
	}

	private static RendezvousException noListener(RankAssignment assignment, IOException cause) {
		return new RendezvousException(assignment, RendezvousException.Reason.ADDRESS,
				cause.getMessage() + ". Ranks that join at a loopback address (MASTER_ADDR, tutti.master-address) need"
						+ " one that this host has; tutti.transport.port must be free",
				List.of(), cause);
	}

	/**
	 * The kernel may choose the port on which rank 0 is about to listen. In that case a
	 * second listener is opened while the first still holds that port.
	 */
	private static DataListener open(@Nullable InetAddress address, int port, RankAssignment assignment)
			throws IOException {
		DataListener listener = DataListener.open(address, port, assignment.worldSize());
		if (port != 0 || listener.port() != assignment.masterPort()) {
			return listener;
		}
		try (listener) {
			return DataListener.open(address, port, assignment.worldSize());
		}
	}

	static RendezvousSettings rendezvous(EngineSettings settings, int dataPort) {
		return new RendezvousSettings(settings.jobId(), settings.token(), settings.generation(), settings.bindAddress(),
				settings.advertisedHost(), dataPort, settings.timeouts().heartbeat(),
				settings.timeouts().abort().dividedBy(2), settings.sharedConfig().toString(), settings.tls());
	}

	private static TcpSettings tcp(Membership membership, EngineSettings settings) {
		List<PeerAddress> roster = membership.roster();
		String host = roster.get(membership.assignment().rank()).hostIdentity();
		long here = roster.stream().filter((rank) -> rank.hostIdentity().equals(host)).count();
		boolean oversubscribed = here > Runtime.getRuntime().availableProcessors();
		Duration heartbeat = settings.timeouts().heartbeat();
		Duration connect = Collections.max(List.of(LEAST_CONNECT, heartbeat));
		return new TcpSettings(settings.congestionControl(), connect, heartbeat, oversubscribed, settings.tls());
	}

	@Override
	public DefaultProcessGroup world() {
		return this.world;
	}

	/** A proof of the session key, which does not reveal it. */
	@Override
	public String runId() {
		return HexFormat.of().formatHex(this.membership.sessionKey().prove(RUN_ID));
	}

	@Override
	public ControlPlane control() {
		return this.membership.control();
	}

	/** The result of the rendezvous. */
	public Membership membership() {
		return this.membership;
	}

	/**
	 * The ranks whose process is known to be dead, since the kernel of its host has
	 * closed its control connection without a leave message. Rank 0 knows this of every
	 * rank, the other ranks of rank 0.
	 */
	public Set<Integer> closedByKernel() {
		return this.registry.closedByKernel();
	}

	@Override
	public List<DefaultProcessGroup> groups() {
		return this.registry.groups();
	}

	@Override
	public CallTotals totals(Collective collective) {
		return this.registry.totals(collective);
	}

	@Override
	public DefaultProcessGroup formBeside(String name) {
		GroupIdentity first = this.world.identity();
		return this.groups.group(first.other(name, first.rank(), first.members()));
	}

	@Override
	public Map<Integer, RankTrace> accounts(int limit, Duration timeout) {
		return RankTrace.decodeAll(control().queryTraces(limit, timeout));
	}

	@Override
	public void recordSites(boolean wanted) {
		this.registry.recordSites(wanted);
	}

	@Override
	public void onDrain(Consumer<String> action) {
		this.registry.onDrain(action);
	}

	@Override
	public void onDeparture(Consumer<Integer> action) {
		this.registry.onDeparture(action);
	}

	@Override
	public void abort(int code, String reason) {
		this.world.abort(code, reason);
		// A world that has failed or is closed breaks no other group any more.
		try (ExecutorService all = Executors.newVirtualThreadPerTaskExecutor()) {
			this.registry.groups().forEach((group) -> all.execute(() -> group.abort(code, reason)));
		}
		this.runtime.abort(code, reason);
	}

	/** Releases in reverse order of opening. */
	@Override
	public void close() {
		CleanUp.runAll(List.of(this.registry::closeSubgroups, this.world::leave, this.runtime::leaving,
				control()::close, this.runtime::close));
	}

}
