package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.net.SocketTimeoutException;

import org.jspecify.annotations.Nullable;

/**
 * How often a rank has tried to get its seat, and what of that is worth telling.
 */
final class ConnectAttempts {

	private int count;

	private @Nullable IOException last;

	private @Nullable JoinRejectedException rankZeroSaid;

	void begin() {
		this.count++;
	}

	/**
	 * Takes what an attempt ended with. One that only ran out of time, as the last may
	 * that the deadline cuts short, says nothing new.
	 */
	void failed(IOException cause) {
		if (cause instanceof JoinRejectedException said) {
			this.rankZeroSaid = said;
		}
		if (this.last == null || !(cause instanceof SocketTimeoutException)) {
			this.last = cause;
		}
	}

	/** The failure to tell of, {@code null} if there was none. */
	@Nullable IOException cause() {
		return this.last;
	}

	/** The attempts in words. */
	String describe() {
		StringBuilder text = new StringBuilder().append(this.count).append(" attempts");
		if (this.last != null) {
			text.append("; the last one: ").append(RendezvousFailure.words(this.last));
		}
		if (this.rankZeroSaid != null && this.rankZeroSaid != this.last) {
			text.append("; rank 0 had said before: ").append(RendezvousFailure.words(this.rankZeroSaid));
		}
		return text.toString();
	}

}
