package io.tutti.launch;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * Supervises the ranks of one start until the last of them has ended. A single thread
 * runs it and receives events through a queue: rank exits, stop requests and timeouts.
 * Ranks of an elastic job that are lost are restarted one by one, or the job continues
 * without them; such losses are no failures of the group.
 */
final class RankGroup {

	/** Exit code after SIGKILL. */
	private static final int KILLED = RankExit.SIGNAL_BASE + 9;

	/** How long to wait for the last output of ranks that have ended. */
	private static final Duration OUTPUT_LIMIT = Duration.ofSeconds(1);

	/** How often to look for the end of child processes, of which there is no event. */
	private static final long PERIOD_MILLIS = 50;

	private final LaunchedCommand command;

	private final LaunchTimings timings;

	private final LaunchConsole console;

	/** Whether the whole group ends when one rank fails. */
	private final boolean endsTogether;

	private final Starter starter;

	private final int ranksPerNode;

	/** {@code null} unless the job is elastic. */
	private final @Nullable LostRanks lostRanks;

	/** Lost ranks that are about to be restarted, by the time of their restart. */
	private final PriorityQueue<PendingRestart> pending = new PriorityQueue<>();

	private final Map<Integer, RankProcess> running = new HashMap<>();

	/** Without lost ranks of an elastic job whose output is complete. */
	private final List<RankProcess> started = new ArrayList<>();

	private final List<RankExit> ends = new ArrayList<>();

	/** The reader of the launcher's lines may be slow, and no event waits for it. */
	private final ExecutorService reports = Executors
		.newSingleThreadExecutor(Thread.ofPlatform().name("tutti-launch-reports").daemon().factory());

	/** The first failure to report, which ends the group. */
	private final AtomicReference<RuntimeException> reportFailure = new AtomicReference<>();

	private final LinkedBlockingQueue<Runnable> events = new LinkedBlockingQueue<>();

	private Phase phase = Phase.RUNNING;

	private Duration phaseLimit = Duration.ZERO;

	private long phaseEndNanos;

	private long nextNoticeNanos;

	private boolean stopped;

	private @Nullable RankExit firstFailure;

	/** Whether a rank of an elastic job has ended with 0, so that the job is done. */
	private boolean finished;

	RankGroup(LaunchPlan plan, LaunchTimings timings, LaunchConsole console, boolean endsTogether, Starter starter) {
		this.command = plan.command();
		this.timings = timings;
		this.console = console;
		this.endsTogether = endsTogether;
		this.starter = starter;
		this.ranksPerNode = plan.ranksPerNode();
		ElasticRanks elastic = plan.elastic();
		this.lostRanks = (elastic != null) ? new LostRanks(plan, elastic) : null;
	}

	/** Requests a stop of every rank and returns immediately. Thread-safe. */
	void stop() {
		this.events.add(this::onStop);
	}

	/**
	 * Starts every rank.
	 * @throws IOException if the program cannot be started; some ranks may run
	 */
	void start() throws IOException {
		for (int localRank = 0; localRank < this.ranksPerNode; localRank++) {
			start(localRank);
		}
	}

	private void start(int localRank) throws IOException {
		this.started.removeIf(RankProcess::isDone);
		RankProcess process = this.starter.start(localRank);
		this.running.put(process.rank(), process);
		this.started.add(process);
		process.onEnd((end) -> this.events.add(() -> onEnd(end)));
	}

	/** Waits until every rank has ended, and terminates ranks where necessary. */
	GroupExit awaitEnd() throws InterruptedException {
		while (!(this.running.isEmpty() && this.pending.isEmpty()) && this.phase != Phase.GIVEN_UP) {
			nextEvent().run();
		}
		awaitDescendants();
		this.started.forEach(RankProcess::killDescendants);
		awaitOutput();
		this.reports.close();
		RuntimeException failed = this.reportFailure.get();
		if (failed != null) {
			throw failed;
		}
		return new GroupExit(this.ends, this.firstFailure, this.stopped);
	}

	/** They have the rest of the time that the ranks have after SIGTERM. */
	private void awaitDescendants() throws InterruptedException {
		boolean terminated = this.phase == Phase.TERMINATING || this.phase == Phase.STOPPING;
		while (terminated && this.phaseEndNanos - System.nanoTime() > 0
				&& this.started.stream().anyMatch(RankProcess::hasDescendants)) {
			TimeUnit.MILLISECONDS.sleep(PERIOD_MILLIS);
		}
	}

	/**
	 * Waits for the last output. After the limit it waits only while the launcher's own
	 * reader is slow, and for no child process that holds the output open or writes on.
	 */
	private void awaitOutput() throws InterruptedException {
		this.started.forEach(RankProcess::beginLastOutput);
		do {
			long endNanos = System.nanoTime() + OUTPUT_LIMIT.toNanos();
			for (RankProcess process : this.started) {
				process.awaitOutput(endNanos);
			}
		}
		while (this.started.stream().anyMatch((process) -> process.hasOutput(OUTPUT_LIMIT)));
	}

	/** Kills the running ranks after a start that failed halfway. */
	GroupExit kill() throws InterruptedException {
		killRunning();
		return awaitEnd();
	}

	private Runnable nextEvent() throws InterruptedException {
		PendingRestart next = this.pending.peek();
		if (next != null) {
			return within(next.dueNanos(), this::restart);
		}
		if (this.phase == Phase.RUNNING) {
			return this.events.take();
		}
		boolean noticeFirst = this.nextNoticeNanos - this.phaseEndNanos < 0;
		return noticeFirst ? within(this.nextNoticeNanos, this::onNotice) : within(this.phaseEndNanos, this::onTimeout);
	}

	private Runnable within(long endNanos, Runnable otherwise) throws InterruptedException {
		Runnable event = this.events.poll(Math.max(0, endNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
		return (event != null) ? event : otherwise;
	}

	private void onEnd(RankExit end) {
		RankProcess process = Objects.requireNonNull(this.running.remove(end.rank()));
		process.terminateDescendants();
		if (this.lostRanks != null && (this.finished
				|| (!this.stopped && this.phase == Phase.RUNNING && !this.command.stoppedOnRequest(end)))) {
			onElasticEnd(end, process, this.lostRanks);
			return;
		}
		record(end);
		if (!end.failed() || this.phase != Phase.RUNNING) {
			return;
		}
		if (this.endsTogether || end.failedToStart()) {
			enter(Phase.LEAVING, this.timings.exitAfter(end, this.command));
		}
		else if (!this.running.isEmpty()) {
			report(end.describe() + "; the other ranks continue");
		}
	}

	/**
	 * A rank that ends because another one fails may end before it. Once the launcher has
	 * sent signals, exits have that cause. A rank that was still starting when the others
	 * stopped had nothing to save.
	 */
	private void record(RankExit end) {
		this.ends.add(end);
		boolean byItself = switch (this.phase) {
			case RUNNING, FINISHING, LEAVING, STOPPING -> true;
			case TERMINATING, KILLED, GIVEN_UP -> false;
		};
		RankExit known = this.firstFailure;
		boolean savedLater = this.stopped && known != null && known.endedByStopSignal()
				&& this.command.stoppedOnRequest(end);
		if (end.failed() && (known == null || savedLater || (byItself && end.causes(known)))) {
			this.firstFailure = end;
		}
	}

	private void onElasticEnd(RankExit end, RankProcess process, LostRanks lostRanks) {
		if (!end.failed()) {
			record(end);
			this.finished |= !this.command.isService();
		}
		else if (!this.finished) {
			onLoss(end, process, lostRanks.after(end, this.running.size() + this.pending.size()));
		}
		else if (isReportedOnly(end)) {
			report(end.describe() + " after the job had finished");
		}
		else {
			record(end);
		}
		if (this.finished && this.phase == Phase.RUNNING) {
			endReplacements(lostRanks);
		}
	}

	/**
	 * Whether a rank that ends after the job is no failure: it was lost by a signal, also
	 * the launcher's, or has stopped as the launcher asked.
	 */
	private boolean isReportedOnly(RankExit end) {
		boolean terminated = this.phase != Phase.RUNNING && this.phase != Phase.FINISHING;
		return end.signalled() || (terminated && this.command.stoppedOnRequest(end));
	}

	private void onLoss(RankExit end, RankProcess process, LostRanks.Decision decision) {
		report(end.describe() + "; " + decision.text());
		switch (decision) {
			case LostRanks.Restart restart ->
				this.pending.add(new PendingRestart(System.nanoTime() + restart.backOff().toNanos(), end, process));
			case LostRanks.Continue nothing -> {
			}
			case LostRanks.End failed -> {
				record(end);
				dropPending();
				enter(Phase.LEAVING, this.timings.exitAfter(end, this.command));
			}
		}
	}

	/**
	 * All members of a job end together. A replacement that has not joined by then would
	 * wait for a group that no longer exists. A program may still work after the job.
	 */
	private void endReplacements(LostRanks lostRanks) {
		this.pending.clear();
		if (this.running.keySet().stream().allMatch(lostRanks::restarted)) {
			enter(Phase.FINISHING, (this.command.kind() == LaunchedCommand.Kind.TRAINING) ? this.timings.leave()
					: this.timings.drain());
		}
	}

	/** A rank that is not restarted any more ends with the exit code of its loss. */
	private void dropPending() {
		this.pending.forEach((restart) -> record(restart.lost()));
		this.pending.clear();
	}

	private void restart() {
		PendingRestart next = this.pending.remove();
		RankExit lost = next.lost();
		next.process().killStarted();
		try {
			start(lost.rank() % this.ranksPerNode);
		}
		catch (IOException ex) {
			report("rank " + lost.rank() + " cannot be restarted: " + ex.getMessage());
			onElasticEnd(lost, next.process(), Objects.requireNonNull(this.lostRanks));
		}
	}

	/**
	 * Ranks lost before the request have been reported and are no failure of the stop,
	 * unless no rank is left. A failure after the end of the job is reported with the
	 * exit of the group.
	 */
	private void onStop() {
		this.stopped = true;
		if (this.phase == Phase.RUNNING) {
			if (!this.finished) {
				this.firstFailure = null;
			}
			if (this.running.isEmpty()) {
				dropPending();
			}
			terminate(Phase.STOPPING, this.timings.stopOf(this.command));
		}
		else if (this.phase == Phase.LEAVING && drains()) {
			terminate(Phase.STOPPING, Duration.ofNanos(Math.max(0, this.phaseEndNanos - System.nanoTime())));
		}
		else if (this.phase == Phase.LEAVING || this.phase == Phase.FINISHING) {
			terminate(Phase.TERMINATING, this.timings.terminate());
		}
	}

	/** Whether the other ranks may still write the last checkpoint. */
	private boolean drains() {
		return this.firstFailure != null && this.command.stoppedOnRequest(this.firstFailure);
	}

	/** A stopped rank can delay the end by minutes, in which no rank may write a line. */
	private void onNotice() {
		String next = switch (this.phase) {
			case FINISHING, LEAVING -> "SIGTERM";
			case TERMINATING, STOPPING -> "SIGKILL";
			case RUNNING, KILLED, GIVEN_UP -> "giving up";
		};
		long seconds = TimeUnit.NANOSECONDS.toSeconds(this.phaseEndNanos - System.nanoTime()) + 1;
		report("waiting for " + runningRanks() + " to end; " + next + " in " + seconds + " s");
		this.nextNoticeNanos = System.nanoTime() + TimeUnit.NANOSECONDS.convert(this.timings.notice());
	}

	private void onTimeout() {
		switch (this.phase) {
			case RUNNING, GIVEN_UP -> {
			}
			case FINISHING -> {
				report(timeout("of the end of the job: sending SIGTERM"));
				terminate(Phase.TERMINATING, this.timings.drain());
			}
			case LEAVING -> {
				report(timeout("of the failure: sending SIGTERM"));
				terminate(Phase.TERMINATING, this.timings.terminate());
			}
			case TERMINATING, STOPPING -> {
				report(timeout("of SIGTERM: sending SIGKILL"));
				killRunning();
			}
			case KILLED -> {
				report(timeout("of SIGKILL: no longer waiting for it"));
				if (!this.finished) {
					this.running.keySet().forEach((rank) -> record(new RankExit(rank, KILLED)));
				}
				this.phase = Phase.GIVEN_UP;
			}
		}
	}

	private void report(String line) {
		this.reports.execute(() -> {
			try {
				this.console.say(line);
			}
			catch (RuntimeException ex) {
				if (this.reportFailure.compareAndSet(null, ex)) {
					this.events.add(() -> {
						throw ex;
					});
				}
			}
		});
	}

	private String timeout(String missedLimit) {
		return runningRanks() + " did not end within " + this.phaseLimit.toMillis() / 1000.0 + " s " + missedLimit;
	}

	private String runningRanks() {
		String ranks = this.running.keySet().stream().sorted().map(String::valueOf).collect(Collectors.joining(", "));
		return ((this.running.size() == 1) ? "rank " : "ranks ") + ranks;
	}

	private void killRunning() {
		enter(Phase.KILLED, this.timings.kill());
		this.running.values().forEach(RankProcess::kill);
	}

	private void terminate(Phase next, Duration limit) {
		enter(next, limit);
		this.running.values().forEach(RankProcess::terminate);
	}

	/** Leaves the phase in which ranks are restarted. */
	private void enter(Phase next, Duration limit) {
		this.pending.clear();
		this.phase = next;
		this.phaseLimit = limit;
		long now = System.nanoTime();
		this.phaseEndNanos = now + TimeUnit.NANOSECONDS.convert(limit);
		this.nextNoticeNanos = now + TimeUnit.NANOSECONDS.convert(this.timings.notice());
	}

	/** Phases of a group. */
	private enum Phase {

		/** No failure ends the group and no stop is requested. */
		RUNNING,
		/** An elastic job is done; its replacements may still end by themselves. */
		FINISHING,
		/** A rank failed; the other ranks may still end by themselves. */
		LEAVING,
		/**
		 * The other ranks did not end in time, or a stop was requested, and got SIGTERM.
		 */
		TERMINATING,
		/** The launcher was asked to stop, and all ranks got SIGTERM. */
		STOPPING,
		/** The remaining ranks got SIGKILL. */
		KILLED,
		/** Some ranks did not end after SIGKILL. */
		GIVEN_UP

	}

	/** A lost rank and when it is to be restarted. */
	private record PendingRestart(long dueNanos, RankExit lost,
			RankProcess process) implements Comparable<PendingRestart> {

		@Override
		public int compareTo(PendingRestart other) {
			return Long.compare(this.dueNanos - other.dueNanos, 0);
		}

	}

	/** Starts the process of a rank. */
	@FunctionalInterface
	interface Starter {

		/**
		 * Starts a rank.
		 * @throws IOException if the program cannot be started
		 */
		RankProcess start(int localRank) throws IOException;

	}

}
