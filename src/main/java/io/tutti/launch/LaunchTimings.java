package io.tutti.launch;

import java.time.Duration;
import java.util.Collections;
import java.util.List;

/**
 * How long the launcher waits for ranks to end.
 *
 * @param leave after a failure, for the other ranks to end by themselves
 * @param terminate after SIGTERM that follows a failure, before SIGKILL
 * @param drain for the other ranks to end once a rank has stopped on request, and for all
 * ranks to end once the launcher has been asked to stop; long enough for a drain and a
 * checkpoint
 * @param serveStop for services to end once the launcher has been asked to stop
 * @param kill after SIGKILL, for the kernel to end the processes
 * @param notice between two lines that name the ranks that have not ended yet
 */
public record LaunchTimings(Duration leave, Duration terminate, Duration drain, Duration serveStop, Duration kill,
		Duration notice) {

	/** A rank that trains takes at most 65 s of it for its last checkpoint. */
	private static final Duration DRAIN_MARGIN = Duration.ofSeconds(70);

	/** Longer than any job, and short enough for sums of durations. */
	private static final Duration LONGEST_DRAIN = Duration.ofDays(36_500);

	/** The documented defaults. */
	public static final LaunchTimings DEFAULTS = new LaunchTimings(Duration.ofSeconds(8), Duration.ofSeconds(2),
			Duration.ofSeconds(100), Duration.ofSeconds(10), Duration.ofSeconds(5), Duration.ofSeconds(10));

	/**
	 * The defaults, with a drain at least as long as the ranks', up to a hundred years.
	 * @throws IllegalArgumentException if {@code tutti.timeout.drain} is not a duration
	 */
	public static LaunchTimings from(ProcessProperties properties) {
		Duration ofRanks = properties.duration("tutti.timeout.drain", Duration.ZERO);
		Duration drain = Collections.min(List.of(ofRanks, LONGEST_DRAIN)).plus(DRAIN_MARGIN);
		return new LaunchTimings(DEFAULTS.leave, DEFAULTS.terminate, Collections.max(List.of(drain, DEFAULTS.drain)),
				DEFAULTS.serveStop, DEFAULTS.kill, DEFAULTS.notice);
	}

	/** How long ranks may take to end when the launcher is asked to stop. */
	Duration stopOf(LaunchedCommand command) {
		return command.isService() ? this.serveStop : this.drain;
	}

	/**
	 * How long the other ranks may take to end by themselves after a rank has failed.
	 * They do not learn of a rank that failed to start, but may fail for the same reason.
	 */
	Duration exitAfter(RankExit failure, LaunchedCommand command) {
		if (command.stoppedOnRequest(failure)) {
			return this.drain;
		}
		return failure.failedToStart() ? this.leave.dividedBy(2) : this.leave;
	}

	/** The longest time that a launcher takes to stop. */
	public Duration longestStop() {
		return Collections.max(List.of(this.drain, this.serveStop))
			.plus(this.leave)
			.plus(this.terminate)
			.plus(this.kill);
	}

}
