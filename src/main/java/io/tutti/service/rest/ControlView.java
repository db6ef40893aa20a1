package io.tutti.service.rest;

/**
 * A request to the whole group that is on its way.
 *
 * @param action what was asked for, {@code abort} or {@code drain}
 * @param reason why, as every rank tells it
 */
record ControlView(String action, String reason) {
}
