package io.tutti.engine;

import java.time.Duration;

/**
 * The time limits of the engine, checked for consistency.
 *
 * @param rendezvous until all ranks have joined
 * @param collective one collective call, unless the call has its own timeout
 * @param heartbeat time without heartbeats after which a rank counts as lost
 * @param abort how long a rank that detected a failure waits for rank 0's verdict
 * @param drain from the request to stop until the group has ended
 */
public record Timeouts(Duration rendezvous, Duration collective, Duration heartbeat, Duration abort, Duration drain) {

	/** The documented defaults. */
	public static final Timeouts DEFAULTS = new Timeouts(Duration.ofMinutes(5), Duration.ofMinutes(10),
			Duration.ofSeconds(30), Duration.ofSeconds(5), Duration.ofSeconds(30));

	/** Checks that every limit is positive and that abort does not exceed heartbeat. */
	public Timeouts {
		requirePositive("rendezvous", rendezvous);
		requirePositive("collective", collective);
		requirePositive("heartbeat", heartbeat);
		requirePositive("abort", abort);
		requirePositive("drain", drain);
		if (abort.compareTo(heartbeat) > 0) {
			throw new IllegalArgumentException(
					"tutti.timeout.abort (" + abort + ") must not exceed tutti.timeout.heartbeat (" + heartbeat
							+ "): a verdict that takes longer than a silence is never waited for");
		}
	}

	/**
	 * The default of {@code abort} for a heartbeat timeout.
	 * @param heartbeat time without heartbeats after which a rank counts as lost
	 * @return the documented default, or {@code heartbeat} if that is shorter
	 */
	public static Duration defaultAbort(Duration heartbeat) {
		return (heartbeat.compareTo(DEFAULTS.abort()) < 0) ? heartbeat : DEFAULTS.abort();
	}

	/**
	 * The same limits with another timeout for collectives.
	 * @param timeout limit of one collective call, more than zero
	 * @return the limits
	 */
	public Timeouts withCollective(Duration timeout) {
		return new Timeouts(this.rendezvous, timeout, this.heartbeat, this.abort, this.drain);
	}

	private static void requirePositive(String name, Duration timeout) {
		if (timeout.isZero() || timeout.isNegative()) {
			throw new IllegalArgumentException("timeout " + name + " must be more than zero, got " + timeout);
		}
	}

}
