package io.tutti.engine.tls;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;

/**
 * Ends the wait for a peer during a handshake.
 */
@FunctionalInterface
public interface HandshakeDeadline {

	/**
	 * Returns while the wait may go on.
	 * @throws IOException if it has taken too long
	 */
	void check() throws IOException;

	/** A deadline that starts now. */
	static HandshakeDeadline within(Duration limit) {
		long startNanos = System.nanoTime();
		return () -> {
			if (System.nanoTime() - startNanos >= limit.toNanos()) {
				throw new SocketTimeoutException("no answer within " + limit.toMillis() + " ms");
			}
		};
	}

}
