package io.tutti.launch;

import java.time.Duration;

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
 */
public record LaunchTimings(Duration leave, Duration terminate, Duration drain, Duration serveStop, Duration kill) {

	/** For the last checkpoint and the end of the ranks. */
	private static final Duration DRAIN_MARGIN = Duration.ofSeconds(10);

	/** The documented defaults. */
	public static final LaunchTimings DEFAULTS = new LaunchTimings(Duration.ofSeconds(8), Duration.ofSeconds(2),
			Duration.ofSeconds(45), Duration.ofSeconds(10), Duration.ofSeconds(5));

	/**
	 * The defaults, with a drain at least as long as the ranks'.
	 * @throws IllegalArgumentException if {@code tutti.timeout.drain} is not a duration
	 */
	public static LaunchTimings from(ProcessProperties properties) {
		Duration drain = properties.duration("tutti.timeout.drain", Duration.ZERO).plus(DRAIN_MARGIN);
		return new LaunchTimings(DEFAULTS.leave, DEFAULTS.terminate,
				(drain.compareTo(DEFAULTS.drain) > 0) ? drain : DEFAULTS.drain, DEFAULTS.serveStop, DEFAULTS.kill);
	}

	/** The longest time that a launcher takes to stop. */
	public Duration longestStop() {
		Duration longest = (this.drain.compareTo(this.serveStop) > 0) ? this.drain : this.serveStop;
		return longest.plus(this.leave).plus(this.terminate).plus(this.kill);
	}

}
