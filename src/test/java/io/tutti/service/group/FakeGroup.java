package io.tutti.service.group;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.tutti.Collective;
import io.tutti.Failure;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.control.PeerStatus;
import io.tutti.engine.control.RoundWait;
import io.tutti.engine.diagnosis.RankTrace;
import io.tutti.engine.dispatch.CallTotals;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.CallSignature;
import io.tutti.engine.spi.GroupIdentity;
import org.jspecify.annotations.Nullable;

/**
 * A group without other processes, controlled by a test.
 */
public final class FakeGroup implements JoinedGroup, ControlPlane {

	private final FailureLatch latch = new FailureLatch();

	private final DefaultProcessGroup world;

	private final List<PeerStatus> peers = new ArrayList<>();

	private final List<Consumer<String>> drains = new ArrayList<>();

	private final List<Consumer<Integer>> departures = new ArrayList<>();

	private final Map<Integer, Duration> answers = new ConcurrentHashMap<>();

	private final List<String> aborts = new CopyOnWriteArrayList<>();

	private final AtomicInteger closings = new AtomicInteger();

	private volatile BiFunction<String, Duration, BarrierOutcome> barriers = (label, timeout) -> {
		throw new AssertionError("no barrier was expected");
	};

	private volatile BiFunction<String, CallSignature, CallMatch> matches = (label, call) -> {
		throw new AssertionError("no announcement was expected");
	};

	private final AtomicInteger waits = new AtomicInteger();

	private volatile @Nullable ControlPlane real;

	private volatile List<DefaultProcessGroup> others = List.of();

	private volatile Supplier<DefaultProcessGroup> beside = () -> {
		throw new UnsupportedOperationException("no further group was expected");
	};

	private volatile Runnable duringPeers = () -> {
	};

	private volatile Runnable duringQuery = () -> {
	};

	private volatile CompletableFuture<Void> echo = CompletableFuture.completedFuture(null);

	public FakeGroup(int rank, int worldSize, long generation) {
		this.world = new DefaultProcessGroup(GroupIdentity.world(rank, worldSize, generation), new IdleBackend(),
				this.latch, this, Timeouts.DEFAULTS);
	}

	/** Sets the outcome of barriers. */
	public void onBarrier(BiFunction<String, Duration, BarrierOutcome> answer) {
		this.barriers = answer;
	}

	public void addPeer(PeerStatus peer) {
		this.peers.removeIf((known) -> known.rank() == peer.rank());
		this.peers.add(peer);
		this.peers.sort(Comparator.comparingInt(PeerStatus::rank));
	}

	public void fail(Failure failure) {
		this.latch.trip(failure);
	}

	@Override
	public void fail(int left, Failure failure) {
		fail(failure);
	}

	public int closings() {
		return this.closings.get();
	}

	@Override
	public DefaultProcessGroup world() {
		return this.world;
	}

	@Override
	public String runId() {
		return "generation " + this.world.generation();
	}

	@Override
	public ControlPlane control() {
		return this;
	}

	@Override
	public List<DefaultProcessGroup> groups() {
		return Stream.concat(Stream.of(this.world), this.others.stream()).toList();
	}

	/** Sets the groups beside the group of all ranks. */
	public void onGroups(List<DefaultProcessGroup> others) {
		this.others = others;
	}

	@Override
	public Map<Integer, RankTrace> accounts(int limit, Duration timeout) {
		return RankTrace.decodeAll(queryTraces(limit, timeout));
	}

	@Override
	public CallTotals totals(Collective collective) {
		return this.world.recorder().totals(collective);
	}

	@Override
	public void recordSites(boolean wanted) {
		this.world.recorder().recordSites(wanted);
	}

	@Override
	public void onDrain(Consumer<String> listener) {
		this.drains.add(listener);
	}

	@Override
	public void onDeparture(Consumer<Integer> listener) {
		this.departures.add(listener);
	}

	/** Another rank leaves the group. */
	public void depart(int rank) {
		this.departures.forEach((listener) -> listener.accept(rank));
	}

	@Override
	public BarrierOutcome barrier(RoundWait wait) {
		ControlPlane real = this.real;
		return (real != null) ? waiting(() -> real.barrier(wait)) : this.barriers.apply(wait.label(), wait.timeout());
	}

	@Override
	public CallMatch match(RoundWait wait, CallSignature call) {
		ControlPlane real = this.real;
		return (real != null) ? waiting(() -> real.match(wait, call)) : this.matches.apply(wait.label(), call);
	}

	private <T> T waiting(Supplier<T> wait) {
		this.waits.incrementAndGet();
		try {
			return wait.get();
		}
		finally {
			this.waits.decrementAndGet();
		}
	}

	/** The number of calls that wait for other ranks. */
	public int waits() {
		return this.waits.get();
	}

	/** Sets the control plane for barriers and calls, {@code null} for this fake. */
	public void onControl(@Nullable ControlPlane control) {
		this.real = control;
	}

	/** Sets the match of announced calls. */
	public void onMatch(BiFunction<String, CallSignature, CallMatch> answer) {
		this.matches = answer;
	}

	/** Sets the backend of the group that {@link #formBeside} returns. */
	public void onBeside(GroupBackend backend) {
		DefaultProcessGroup formed = new DefaultProcessGroup(
				GroupIdentity.world(this.world.rank(), this.world.worldSize(), 0), backend, this.latch, this,
				Timeouts.DEFAULTS);
		onForming(() -> formed);
	}

	/** Sets how {@link #formBeside} forms a group. */
	public void onForming(Supplier<DefaultProcessGroup> forming) {
		this.beside = forming;
	}

	@Override
	public DefaultProcessGroup formBeside(String name) {
		return this.beside.get();
	}

	@Override
	public CompletableFuture<Void> echo() {
		return this.echo;
	}

	/** Sets the response of the control thread. */
	public void onEcho(CompletableFuture<Void> answer) {
		this.echo = answer;
	}

	@Override
	public void requestDrain(String reason) {
		this.drains.forEach((drain) -> drain.accept(reason));
	}

	/** Sets what happens during each call of {@link #peers()}. */
	public void duringPeers(Runnable action) {
		this.duringPeers = action;
	}

	@Override
	public List<PeerStatus> peers() {
		this.duringPeers.run();
		return List.copyOf(this.peers);
	}

	@Override
	public @Nullable PeerStatus peer(int rank) {
		return this.peers.stream().filter((peer) -> peer.rank() == rank).findFirst().orElse(null);
	}

	/** Sets what happens during each query of the traces. */
	public void duringQuery(Runnable action) {
		this.duringQuery = action;
	}

	@Override
	public Map<Integer, byte[]> queryTraces(int limit, Duration timeout) {
		this.duringQuery.run();
		return Map.of(this.world.rank(),
				RankTrace.take(this.world.rank(), this.world.generation(), List.of(this.world), limit).encode());
	}

	@Override
	public Map<Integer, Duration> rollCall(Duration timeout) {
		return new TreeMap<>(this.answers);
	}

	/** Sets the ranks that answer a roll call, and their delays. */
	public void answers(Map<Integer, Duration> answers) {
		this.answers.putAll(answers);
	}

	@Override
	public void abort(int code, String reason) {
		this.aborts.add(reason);
	}

	/** The reasons of all abort requests. */
	public List<String> aborts() {
		return this.aborts;
	}

	@Override
	public void report(Failure failure) {
		fail(failure);
	}

	@Override
	public void close() {
		this.closings.incrementAndGet();
		this.world.close();
	}

	private static final class IdleBackend implements GroupBackend {

		@Override
		public String transport() {
			return "tcp";
		}

		@Override
		public String name() {
			return "tcp";
		}

		@Override
		public void run(Call call) {
			throw new AssertionError("no collective was expected");
		}

		@Override
		public void wake() {
		}

		@Override
		public void close() {
		}

	}

}
