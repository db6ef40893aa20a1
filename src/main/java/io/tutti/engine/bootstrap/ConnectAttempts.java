package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.net.SocketTimeoutException;

import org.jspecify.annotations.Nullable;

/**
 * Counts a rank's attempts to join and keeps the causes that an error reports.
 */
final class ConnectAttempts {

	private int count;

	private @Nullable IOException last;

	private @Nullable HandshakeException refusal;

	void begin() {
		this.count++;
	}

	/**
	 * Records the cause of a failed attempt. A mere timeout, such as that of the last
	 * attempt at the deadline, does not replace an earlier cause.
	 */
	void failed(IOException cause) {
		if (cause instanceof HandshakeException refused) {
			this.refusal = refused;
		}
		if (this.last == null || !(cause instanceof SocketTimeoutException)) {
			this.last = cause;
		}
	}

	/** The cause to report, {@code null} if there is none. */
	@Nullable IOException cause() {
		return this.last;
	}

	/** The attempts for an error message. */
	String describe() {
		StringBuilder text = new StringBuilder().append(this.count).append(" attempts");
		if (this.last != null) {
			text.append("; the last one: ").append(RendezvousFailure.words(this.last));
		}
		if (this.refusal != null && this.refusal != this.last) {
			text.append("; an earlier one: ").append(RendezvousFailure.words(this.refusal));
		}
		return text.toString();
	}

}
