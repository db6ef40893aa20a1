package io.tutti.launch;

import java.time.Duration;

/**
 * How long the launcher waits for ranks to end.
 *
 * @param leave after a failure, for the others to end by themselves
 * @param terminate after SIGTERM that follows a failure, before SIGKILL
 * @param drain for the others to end once a rank has stopped on request, and for all to
 * end once the launcher has been told to stop; a drain and a checkpoint fit in
 * @param serveStop for services to end once the launcher has been told to stop
 * @param kill for the kernel to end what was killed
 */
public record LaunchTimings(Duration leave, Duration terminate, Duration drain, Duration serveStop, Duration kill) {

	/** What the documentation names. */
	public static final LaunchTimings DEFAULTS = new LaunchTimings(Duration.ofSeconds(8), Duration.ofSeconds(2),
			Duration.ofSeconds(45), Duration.ofSeconds(10), Duration.ofSeconds(5));

	/** How long a launcher that was told to stop can take at most. */
	public Duration longestStop() {
		Duration longest = (this.drain.compareTo(this.serveStop) > 0) ? this.drain : this.serveStop;
		return longest.plus(this.leave).plus(this.terminate).plus(this.kill);
	}

}
