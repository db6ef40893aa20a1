package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * Paces and counts the attempts to resolve or join, and keeps the causes that an error
 * reports.
 */
public final class ConnectAttempts {

	private static final long FIRST_PAUSE_NANOS = Duration.ofMillis(20).toNanos();

	private static final long LONGEST_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

	private long pauseNanos = FIRST_PAUSE_NANOS;

	private int count;

	private @Nullable IOException last;

	private @Nullable HandshakeException refusal;

	/** No attempt yet. */
	public ConnectAttempts() {
	}

	void begin() {
		this.count++;
	}

	/**
	 * Records the cause of a failed attempt. A mere timeout or interrupt, such as that of
	 * the last attempt, does not replace an earlier cause.
	 */
	void failed(IOException cause) {
		if (cause instanceof HandshakeException refused) {
			this.refusal = refused;
		}
		if (this.last == null
				|| !(cause instanceof SocketTimeoutException || cause instanceof ClosedByInterruptException)) {
			this.last = cause;
		}
	}

	/**
	 * Pauses before the next attempt, not beyond the deadline. The back-off has jitter,
	 * so that many ranks do not retry in lockstep.
	 * @return whether there is time left for another attempt
	 */
	public boolean pause(Deadline deadline) throws InterruptedException {
		Thread.sleep(Duration.ofNanos(Math.min(nextPauseNanos(), deadline.remainingNanos())));
		return !deadline.expired();
	}

	long nextPauseNanos() {
		long jittered = this.pauseNanos / 2 + ThreadLocalRandom.current().nextLong(this.pauseNanos / 2);
		this.pauseNanos = Math.min(LONGEST_PAUSE_NANOS, 2 * this.pauseNanos);
		return jittered;
	}

	/** The cause to report, {@code null} if there is none. */
	@Nullable IOException cause() {
		return this.last;
	}

	/** The attempts for an error message. */
	String describe() {
		StringBuilder text = new StringBuilder().append(this.count).append(" attempts");
		if (this.last != null) {
			text.append("; the last one: ").append(CleanUp.message(this.last));
		}
		if (this.refusal != null && this.refusal != this.last) {
			text.append("; an earlier one: ").append(CleanUp.message(this.refusal));
		}
		return text.toString();
	}

}
