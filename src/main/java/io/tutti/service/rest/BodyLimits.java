package io.tutti.service.rest;

import java.time.Duration;

/**
 * What a caller may take to send a body.
 *
 * @param time how long the whole of it may take; of a collective's elements, how long
 * nothing may come
 * @param unreadBytes how much of a body that nobody wanted is read, so that its sender
 * sees the answer; after that the connection is closed
 */
record BodyLimits(Duration time, long unreadBytes) {

	static final BodyLimits USUAL = new BodyLimits(Duration.ofSeconds(10), 2 << 20);

}
