package io.tutti.launch;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * Supervises the ranks of one start until the last of them has ended. A single thread
 * runs it and receives events through a queue: rank exits, stop requests and timeouts.
 */
final class RankGroup {

	/** Exit code after SIGKILL. */
	private static final int KILLED = RankExit.SIGNAL_BASE + 9;

	/** How long to wait for the last output of a rank that has ended. */
	private static final Duration OUTPUT_LIMIT = Duration.ofSeconds(1);

	private final LaunchedCommand command;

	private final LaunchTimings timings;

	private final LaunchConsole console;

	/** Whether the whole group ends when one rank fails. */
	private final boolean endsTogether;

	private final Map<Integer, RankProcess> running = new HashMap<>();

	private final List<RankProcess> started = new ArrayList<>();

	private final List<RankExit> ends = new ArrayList<>();

	private final LinkedBlockingQueue<Event> events = new LinkedBlockingQueue<>();

	private Phase phase = Phase.RUNNING;

	private Duration phaseLimit = Duration.ZERO;

	private long phaseEndNanos;

	private boolean stopped;

	private @Nullable RankExit firstFailure;

	RankGroup(LaunchedCommand command, LaunchTimings timings, LaunchConsole console, boolean endsTogether) {
		this.command = command;
		this.timings = timings;
		this.console = console;
		this.endsTogether = endsTogether;
	}

	/** Requests a stop of every rank and returns immediately. Thread-safe. */
	void stop() {
		this.events.add(new StopRequested());
	}

	/** Adds a rank that has been started. */
	void add(RankProcess process) {
		this.running.put(process.rank(), process);
		this.started.add(process);
		process.onEnd((end) -> this.events.add(new Ended(end)));
	}

	/** Waits until every rank has ended, and terminates ranks where necessary. */
	GroupExit awaitEnd() throws InterruptedException {
		while (!this.running.isEmpty() && this.phase != Phase.GIVEN_UP) {
			Event event = nextEvent();
			switch (event) {
				case Ended ended -> onEnd(ended.end());
				case StopRequested requested -> onStop();
				case PhaseTimeout timeout -> onTimeout();
			}
		}
		for (RankProcess process : this.started) {
			process.finish(OUTPUT_LIMIT);
		}
		return new GroupExit(this.ends, this.firstFailure, this.stopped);
	}

	/** Kills the running ranks after a start that failed halfway. */
	GroupExit kill() throws InterruptedException {
		killRunning();
		return awaitEnd();
	}

	private Event nextEvent() throws InterruptedException {
		if (this.phase == Phase.RUNNING) {
			return this.events.take();
		}
		long left = this.phaseEndNanos - System.nanoTime();
		Event event = this.events.poll(Math.max(0, left), TimeUnit.NANOSECONDS);
		return (event != null) ? event : new PhaseTimeout();
	}

	private void onEnd(RankExit end) {
		this.running.remove(end.rank());
		record(end);
		if (!end.failed() || this.phase != Phase.RUNNING) {
			return;
		}
		if (!this.endsTogether) {
			this.console.say(end.describe() + (this.running.isEmpty() ? "" : "; the other ranks continue"));
		}
		else {
			enter(Phase.LEAVING, this.command.exitLimit(end, this.timings));
		}
	}

	/**
	 * A rank that ends because another one fails may end before it. Once the launcher has
	 * sent signals, exits have that cause.
	 */
	private void record(RankExit end) {
		this.ends.add(end);
		boolean byItself = switch (this.phase) {
			case RUNNING, LEAVING, STOPPING -> true;
			case TERMINATING, KILLED, GIVEN_UP -> false;
		};
		RankExit known = this.firstFailure;
		if (end.failed() && (known == null || (byItself && this.command.causes(end, known)))) {
			this.firstFailure = end;
		}
	}

	/**
	 * Ranks lost before the request have been reported and are no failure of the stop.
	 */
	private void onStop() {
		this.stopped = true;
		if (this.phase == Phase.RUNNING) {
			this.firstFailure = null;
			terminate(Phase.STOPPING, this.command.stopLimit(this.timings));
		}
		else if (this.phase == Phase.LEAVING) {
			terminate(Phase.TERMINATING, this.timings.terminate());
		}
	}

	private void onTimeout() {
		switch (this.phase) {
			case RUNNING, GIVEN_UP -> {
			}
			case LEAVING -> {
				reportTimeout("of the failure: sending SIGTERM");
				terminate(Phase.TERMINATING, this.timings.terminate());
			}
			case TERMINATING, STOPPING -> {
				reportTimeout("of SIGTERM: sending SIGKILL");
				killRunning();
			}
			case KILLED -> {
				reportTimeout("of SIGKILL: no longer waiting for it");
				this.running.keySet().forEach((rank) -> record(new RankExit(rank, KILLED)));
				this.phase = Phase.GIVEN_UP;
			}
		}
	}

	private void reportTimeout(String missedLimit) {
		String ranks = this.running.keySet().stream().sorted().map(String::valueOf).collect(Collectors.joining(", "));
		this.console.say(((this.running.size() == 1) ? "rank " : "ranks ") + ranks + " did not end within "
				+ this.phaseLimit.toMillis() / 1000.0 + " s " + missedLimit);
	}

	private void killRunning() {
		enter(Phase.KILLED, this.timings.kill());
		this.running.values().forEach(RankProcess::kill);
	}

	private void terminate(Phase next, Duration limit) {
		enter(next, limit);
		this.running.values().forEach(RankProcess::terminate);
	}

	private void enter(Phase next, Duration limit) {
		this.phase = next;
		this.phaseLimit = limit;
		this.phaseEndNanos = System.nanoTime() + limit.toNanos();
	}

	/** Phases of a group. */
	private enum Phase {

		/** No failure ends the group and no stop is requested. */
		RUNNING,
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

	private sealed interface Event {

	}

	private record Ended(RankExit end) implements Event {

	}

	private record StopRequested() implements Event {

	}

	private record PhaseTimeout() implements Event {

	}

}
