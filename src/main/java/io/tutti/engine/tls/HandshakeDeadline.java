package io.tutti.engine.tls;

import java.io.IOException;

/**
 * Whether a wait for the other side goes on.
 */
@FunctionalInterface
public interface HandshakeDeadline {

	/** How often the side that has connected asks, which somebody waits for. */
	int CONNECTING_MILLIS = 20;

	/** How often the side that has accepted asks, of which there may be many. */
	int ACCEPTING_MILLIS = 500;

	/**
	 * Returns if it does.
	 * @throws IOException if it has taken too long
	 */
	void check() throws IOException;

}
