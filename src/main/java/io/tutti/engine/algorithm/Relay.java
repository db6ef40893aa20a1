package io.tutti.engine.algorithm;

import io.tutti.engine.transport.Link;

/**
 * Forwards bytes from one link to another out of the first link's staging buffer.
 */
final class Relay {

	private Relay() {
	}

	/**
	 * Forwards the bytes that are available now.
	 * @return number of bytes forwarded, at most {@code bytes}
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
