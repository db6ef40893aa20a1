package io.tutti.service.rest;

import java.time.Duration;

/**
 * Limits on sending a body.
 *
 * @param time limit for the whole body; for a collective's elements, limit between two
 * bytes
 * @param unreadBytes how much of an unused body is read and discarded, so that the client
 * receives the response; beyond that the connection is closed
 */
record BodyLimits(Duration time, long unreadBytes) {

	static final BodyLimits USUAL = new BodyLimits(Duration.ofSeconds(10), 2 << 20);

}
