package io.tutti.service.group;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import io.tutti.CollectiveException;
import io.tutti.CollectiveListener;
import io.tutti.Failure;
import io.tutti.GroupState;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Joins the group when the application starts and leaves it when it stops. Joining waits
 * for other processes, so it runs on a separate thread while HTTP is already served.
 * Thread-safe.
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

	private final GroupJoiner factory;

	private final CollectiveListener log;

	private final CompletableFuture<JoinedGroup> formed = new CompletableFuture<>();

	private final CompletableFuture<Failure> broken = new CompletableFuture<>();

	private final CompletableFuture<Integer> withdrawn = new CompletableFuture<>();

	private final AtomicBoolean left = new AtomicBoolean();

	private @Nullable Thread joining;

	private volatile boolean closed;

	/** Duration of rendezvous, 0 before it has formed. */
	private volatile long formingNanos;

	/**
	 * Creates a lifecycle without joining the group.
	 * @param log receives the engine's events
	 */
	public GroupLifecycle(RankAssignment assignment, EngineSettings settings, GroupJoiner factory,
			CollectiveListener log) {
		this.assignment = assignment;
		this.settings = settings;
		this.factory = factory;
		this.log = log;
	}

	/** Completes with the group once it has formed, or with the reason why it did not. */
	public CompletableFuture<JoinedGroup> formed() {
		return this.formed.copy();
	}

	/** Completes with the failure if the group breaks. */
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

	/** Duration of rendezvous, {@link Duration#ZERO} before it has formed. */
	public Duration formedAfter() {
		return Duration.ofNanos(this.formingNanos);
	}

	/** The assignment of this rank. */
	public RankAssignment assignment() {
		return this.assignment;
	}

	/** The state of the group. */
	public GroupStatus status() {
		if (this.closed) {
			return GroupStatus.of(GroupState.CLOSED);
		}
		if (this.formed.isCompletedExceptionally()) {
			return GroupStatus.neverFormed(this.formed.exceptionNow());
		}
		Failure failure = failure();
		if (failure != null) {
			return GroupStatus.broken(failure);
		}
		return GroupStatus.of(this.formed.isDone() ? GroupState.READY : GroupState.FORMING);
	}

	/**
	 * The state of the group as seen by a failed call. It differs from {@link #status()}
	 * where the failure concerns only another group or has not yet reached this rank.
	 */
	public GroupStatus statusOf(CollectiveException failure) {
		GroupStatus status = status();
		return (status.state() == GroupState.READY) ? GroupStatus.broken(failure.failure()) : status;
	}

	/**
	 * Returns the group if it is ready.
	 * @throws GroupUnavailableException if it is not ready
	 */
	public JoinedGroup ready() {
		GroupStatus status = status();
		JoinedGroup group = joined();
		if (status.state() != GroupState.READY || group == null) {
			throw new GroupUnavailableException(status, null);
		}
		return group;
	}

	/**
	 * The group if it has formed, even if it has broken since; {@code null} otherwise.
	 */
	public @Nullable JoinedGroup joined() {
		return (this.formed.isDone() && !this.formed.isCompletedExceptionally()) ? this.formed.resultNow() : null;
	}

	@Override
	public synchronized void start() {
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
		return this.joining != null && !this.closed;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

	private @Nullable Failure failure() {
		JoinedGroup group = joined();
		Failure seen = (group != null) ? group.world().failure() : null;
		return (seen != null) ? seen : this.broken.getNow(null);
	}

	private void join() {
		long start = System.nanoTime();
		try {
			JoinedGroup joined = this.factory.join(this.assignment, this.settings,
					new BreakListener(this.log, this.broken, this.withdrawn));
			this.formingNanos = System.nanoTime() - start;
			adopt(joined);
			this.log.note("joined the group: rank %d of %d, backend %s over %s, after %d ms".formatted(
					this.assignment.rank(), this.assignment.worldSize(), this.settings.backend(),
					joined.world().transport(), this.formingNanos / NANOS_PER_MILLI));
		}
		catch (RuntimeException | LinkageError ex) {
			this.formed.completeExceptionally(ex);
		}
	}

	/** Leaves at once if the application has stopped during the rendezvous. */
	private void adopt(JoinedGroup group) {
		this.formed.complete(group);
		if (this.closed) {
			leave();
		}
	}

	private void leave() {
		JoinedGroup group = joined();
		if (group != null && this.left.compareAndSet(false, true)) {
			group.close();
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
