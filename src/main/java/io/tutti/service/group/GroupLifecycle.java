package io.tutti.service.group;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.CollectiveListener;
import io.tutti.ElasticEvent;
import io.tutti.ElasticGroup;
import io.tutti.Failure;
import io.tutti.GroupState;
import io.tutti.ProcessGroup;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.control.PeerStatus;
import io.tutti.engine.dispatch.CallTotals;
import io.tutti.engine.elastic.DefaultElasticGroup;
import io.tutti.engine.elastic.ElasticEngine;
import io.tutti.engine.elastic.ElasticSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * The current group of this process. Joins it when the application starts and leaves it
 * when it stops. Joining waits for other processes, so it runs on a separate thread while
 * HTTP is already served. The generations of an elastic group are formed by the command
 * that runs {@link #elastic()}; until it does, the group is forming. Thread-safe.
 */
public final class GroupLifecycle implements SmartLifecycle {

	/**
	 * Between the two phases of the web server. On start the rank joins once the HTTP
	 * port is bound. On stop the web server first refuses requests, then the rank leaves
	 * the group, then the port is closed.
	 */
	static final int PHASE = WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE
			+ (WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE
					- WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE) / 2;

	/** How long an interrupted rendezvous may take to close its sockets. */
	private static final Duration GIVE_UP = Duration.ofSeconds(1);

	private static final long NANOS_PER_MILLI = 1_000_000;

	private final RankAssignment assignment;

	private final EngineSettings settings;

	private final GroupJoiner joiner;

	private final CollectiveListener log;

	/** {@code null} for a group that stays broken when it has broken. */
	private final @Nullable ElasticSettings elasticSettings;

	private final Generations generations;

	private final CompletableFuture<JoinedGroup> formed = new CompletableFuture<>();

	private final CompletableFuture<Failure> broken = new CompletableFuture<>();

	private final CompletableFuture<Integer> withdrawn = new CompletableFuture<>();

	private final AtomicBoolean left = new AtomicBoolean();

	private @Nullable Thread joining;

	private volatile @Nullable ElasticEngine elastic;

	private volatile @Nullable ElasticGroup elasticGroup;

	private boolean started;

	private volatile boolean closed;

	/** Duration of rendezvous, 0 before it has formed. */
	private volatile long formingNanos;

	/**
	 * Creates a lifecycle without joining the group.
	 * @param log receives the engine's events
	 */
	public GroupLifecycle(RankAssignment assignment, EngineSettings settings, GroupJoiner joiner,
			CollectiveListener log) {
		this(assignment, settings, joiner, log, null);
	}

	/**
	 * Creates a lifecycle without joining the group.
	 * @param log receives the engine's events
	 * @param elastic settings of a group that continues without lost ranks, {@code null}
	 * for any other
	 */
	public GroupLifecycle(RankAssignment assignment, EngineSettings settings, GroupJoiner joiner,
			CollectiveListener log, @Nullable ElasticSettings elastic) {
		this.assignment = assignment;
		this.settings = settings;
		this.joiner = joiner;
		this.log = log;
		this.elasticSettings = elastic;
		this.generations = new Generations(assignment);
		this.broken.thenAccept(this.generations::fail);
	}

	/** Whether the group forms again without lost ranks. */
	public boolean isElastic() {
		return this.elasticSettings != null;
	}

	/** Whether the group forms again after a failure; {@code null} is no failure. */
	public boolean formsAgainAfter(@Nullable Failure failure) {
		return failure != null && isElastic() && !hasLeft() && continuesAfter(failure);
	}

	private static boolean continuesAfter(Failure failure) {
		return BreakListener.breaksWorld(failure) && DefaultElasticGroup.continuesAfter(failure);
	}

	/** Whether this rank takes no part in further generations of an elastic group. */
	private boolean hasLeft() {
		ElasticEngine engine = this.elastic;
		return engine != null && engine.hasLeft();
	}

	/**
	 * The elastic group of this process, which a command runs. The application closes it.
	 * @throws io.tutti.engine.control.RendezvousException if its endpoint cannot be bound
	 * @throws IllegalStateException if the group is not elastic, or before the
	 * application has started
	 */
	public ElasticGroup elastic() {
		if (this.formed.isCompletedExceptionally() && this.formed.exceptionNow() instanceof RuntimeException failed) {
			throw failed;
		}
		ElasticGroup group = this.elasticGroup;
		if (group == null) {
			throw new IllegalStateException("the group is not elastic, or the application has not started");
		}
		return group;
	}

	/**
	 * The generation that runs on a group of all ranks.
	 * @throws IllegalStateException if it is not the last one that has formed
	 */
	public JoinedGroup generation(ProcessGroup world) {
		JoinedGroup group = this.generations.group();
		if (group == null || group.world() != world) {
			throw new IllegalStateException("generation " + world.generation() + " is not the current one");
		}
		return group;
	}

	/**
	 * Lets an elastic group form with fewer ranks than the minimum, since its job is to
	 * end.
	 */
	public void end() {
		ElasticEngine engine = this.elastic;
		if (engine != null) {
			engine.end();
		}
	}

	/** Whether processes wait to join an elastic group. */
	public boolean joinersWait() {
		ElasticEngine engine = this.elastic;
		return engine != null && engine.joinersWait();
	}

	/**
	 * Adds a listener to each generation that forms. It is called at once if one has
	 * formed, and must return quickly and not throw.
	 */
	public void onFormed(Consumer<JoinedGroup> listener) {
		this.generations.onFormed(listener);
	}

	/**
	 * Adds a listener to each generation that breaks, including those after which an
	 * elastic group forms again. It must return quickly and not throw.
	 */
	public void onBroken(Consumer<BrokenGeneration> listener) {
		this.generations.onBroken(listener);
	}

	/** The last broken generations, oldest first. */
	public List<BrokenGeneration> brokenGenerations() {
		return this.generations.kept();
	}

	/** Losses and re-formations of an elastic group. */
	public GroupHistory history() {
		GroupHistory history = this.generations.history();
		return (this.closed || hasLeft()) ? history.ended() : history;
	}

	/** This rank's totals of a collective over all generations. */
	public CallTotals totals(Collective collective) {
		return this.generations.totals(collective);
	}

	/**
	 * Completes with the group once it has formed for the first time, or with the reason
	 * why it did not.
	 */
	public CompletableFuture<JoinedGroup> formed() {
		return this.formed.copy();
	}

	/**
	 * Completes with the failure if the group breaks; never for an elastic group.
	 */
	public CompletableFuture<Failure> broken() {
		return this.broken.copy();
	}

	/**
	 * Completes with the first rank that is stopped before the group has formed. The
	 * other ranks keep waiting for it unless they are stopped too.
	 */
	public CompletableFuture<Integer> withdrawn() {
		return this.withdrawn.copy();
	}

	/**
	 * Duration of the last rendezvous, {@link Duration#ZERO} before the group has formed.
	 */
	public Duration formedAfter() {
		return Duration.ofNanos(this.formingNanos);
	}

	/**
	 * This rank's place in the current generation, in the last one while the next forms,
	 * and the launcher's assignment before the first.
	 */
	public RankAssignment assignment() {
		return this.generations.assignment();
	}

	/** The state of the group. */
	public GroupStatus status() {
		return snapshot().status();
	}

	/** The group at one moment. */
	public GroupSnapshot snapshot() {
		// Read first: a generation that has formed is set before this ends.
		boolean forming = isForming();
		Generations.Current last = this.generations.current();
		RankAssignment place = (last != null) ? last.assignment() : this.assignment;
		JoinedGroup joined = (last != null && !forming) ? last.group() : null;
		List<Integer> gone = (joined != null) ? leftRanks(joined) : List.of();
		Failure seen = (last != null) ? last.group().world().failure() : null;
		return new GroupSnapshot(status((seen != null) ? seen : this.broken.getNow(null), joined, gone), place, joined,
				gone);
	}

	private GroupStatus status(@Nullable Failure failure, @Nullable JoinedGroup joined, List<Integer> gone) {
		if (this.closed) {
			return GroupStatus.of(GroupState.CLOSED);
		}
		if (this.formed.isCompletedExceptionally()) {
			return GroupStatus.neverFormed(this.formed.exceptionNow());
		}
		if (failure != null) {
			return formsAgainAfter(failure) ? GroupStatus.forming(failure) : GroupStatus.broken(failure);
		}
		if (hasLeft()) {
			return GroupStatus.of(GroupState.CLOSED);
		}
		return (joined != null) ? GroupStatus.ready(gone) : GroupStatus.of(GroupState.FORMING);
	}

	private static List<Integer> leftRanks(JoinedGroup joined) {
		return joined.control()
			.peers()
			.stream()
			.filter((peer) -> peer.state() == PeerStatus.State.LEFT)
			.map(PeerStatus::rank)
			.toList();
	}

	/**
	 * The state of the group as seen by a failed call. It differs from {@link #status()}
	 * where the failure concerns only another group or has not yet reached this rank. An
	 * elastic group whose call misses a rank, but which has lost none, forms again
	 * because its members change.
	 * @param generation the generation in which the call failed
	 */
	public GroupStatus statusOf(JoinedGroup generation, CollectiveException failure) {
		GroupStatus status = status();
		if (status.state() != GroupState.READY && status.state() != GroupState.FORMING) {
			return status;
		}
		boolean left = isElastic() && failure.failure().kind() == Failure.Kind.PEER_LOST
				&& generation.world().failure() == null;
		return left ? GroupStatus.of(GroupState.FORMING) : GroupStatus.broken(failure.failure());
	}

	/**
	 * Returns the group if it is ready.
	 * @throws GroupUnavailableException if it is not ready
	 */
	public JoinedGroup ready() {
		GroupSnapshot now = snapshot();
		JoinedGroup group = now.joined();
		if (now.status().state() != GroupState.READY || group == null) {
			throw new GroupUnavailableException(now.status(), null);
		}
		return group;
	}

	/**
	 * The current generation if it has formed, even if it has broken since; {@code null}
	 * otherwise, as while the next generation of an elastic group forms.
	 */
	public @Nullable JoinedGroup joined() {
		return isForming() ? null : this.generations.group();
	}

	private boolean isForming() {
		ElasticEngine engine = this.elastic;
		return engine != null && engine.isForming();
	}

	/**
	 * The current generation if it has formed, even if it has broken since.
	 * @throws GroupUnavailableException if it has not formed
	 */
	public JoinedGroup requireJoined() {
		JoinedGroup group = joined();
		if (group == null) {
			throw new GroupUnavailableException(status(), null);
		}
		return group;
	}

	@Override
	public synchronized void start() {
		this.started = true;
		if (this.elasticSettings != null) {
			open(this.elasticSettings);
			return;
		}
		this.joining = Thread.ofPlatform()
			.name("tutti-r" + this.assignment.rank() + "-rendezvous")
			.daemon()
			.start(this::join);
	}

	@Override
	public void stop() {
		Thread thread = close();
		if (thread != null) {
			thread.interrupt();
			await(thread);
		}
		leave();
	}

	@Override
	public synchronized boolean isRunning() {
		return this.started && !this.closed;
	}

	/** A group that this rank has left cannot be joined again by the same context. */
	@Override
	public boolean isPauseable() {
		return false;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

	private void open(ElasticSettings wanted) {
		try {
			ElasticEngine engine = ElasticEngine.open(this.assignment, this.settings, wanted, listener());
			engine.onEvent((event) -> happened(engine, event));
			this.elastic = engine;
			this.elasticGroup = new DefaultElasticGroup(engine, () -> {
			});
		}
		catch (RuntimeException ex) {
			this.formed.completeExceptionally(ex);
		}
	}

	private CollectiveListener listener() {
		// The application's listeners come last, since they may take time.
		return new GroupListeners(List.of(new BreakListener(this::broke, this.withdrawn), this.log));
	}

	/** An elastic group that forms again reports the failure when it begins to. */
	private void broke(Failure failure) {
		if (!isElastic()) {
			this.broken.complete(failure);
			return;
		}
		if (!continuesAfter(failure)) {
			this.generations.fail(failure);
		}
	}

	private void happened(ElasticEngine engine, ElasticEvent event) {
		switch (event) {
			case ElasticEvent.Lost lost -> this.generations.lose(lost);
			case ElasticEvent.Awaiting awaiting -> this.generations.await(awaiting.slots());
			case ElasticEvent.Formed done -> {
				Engine formed = engine.engine();
				if (formed != null) {
					this.formingNanos = done.after().toNanos();
					this.generations.form(formed, formed.membership().assignment(), done);
					this.formed.complete(formed);
				}
			}
			case ElasticEvent.Synchronized _ -> {
			}
		}
	}

	private void join() {
		long start = System.nanoTime();
		try {
			JoinedGroup joined = this.joiner.join(this.assignment, this.settings, listener());
			this.formingNanos = System.nanoTime() - start;
			adopt(joined);
			this.log.note(String.format(Locale.ROOT, "joined the group: rank %d of %d, backend %s over %s, after %d ms",
					this.assignment.rank(), this.assignment.worldSize(), this.settings.backend(),
					joined.world().transport(), this.formingNanos / NANOS_PER_MILLI));
		}
		catch (RuntimeException | Error ex) {
			this.formed.completeExceptionally(ex);
		}
	}

	/** Leaves at once if the application has stopped during the rendezvous. */
	private void adopt(JoinedGroup group) {
		this.generations.form(group, this.assignment);
		this.formed.complete(group);
		if (this.closed) {
			leave();
		}
	}

	private void leave() {
		ElasticGroup again = this.elasticGroup;
		JoinedGroup once = this.generations.group();
		if ((again != null || once != null) && this.left.compareAndSet(false, true)) {
			if (again != null) {
				again.close();
				return;
			}
			once.close();
		}
	}

	private synchronized @Nullable Thread close() {
		this.closed = true;
		return this.joining;
	}

	private static void await(Thread thread) {
		try {
			thread.join(GIVE_UP);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
