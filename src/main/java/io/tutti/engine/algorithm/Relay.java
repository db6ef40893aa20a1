package io.tutti.engine.algorithm;

import io.tutti.engine.transport.Link;

/**
 * Passes bytes from one link to another out of the first one's staging.
 */
final class Relay {

	private Relay() {
	}

	/**
	 * Moves what can be moved now.
	 * @return how many bytes, at most that many
	 */
	static long move(Link from, Link to, long bytes) {
		long readable = from.readable(bytes);
		if (readable == 0) {
			return 0;
		}
		long taken = to.send(from.readAddress(), readable);
		from.consume(taken);
		return taken;
	}

}
