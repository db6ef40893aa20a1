package io.tutti.service.rest;

/**
 * An accepted request to the whole group.
 *
 * @param action the requested action, {@code abort} or {@code drain}
 * @param reason reason for it, which every rank reports
 */
record ControlView(String action, String reason) {
}
