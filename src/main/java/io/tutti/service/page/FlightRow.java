package io.tutti.service.page;

/**
 * A collective in progress on a rank.
 *
 * @param rank the rank
 * @param group name of the group
 * @param call text of the call
 * @param bytes size of the larger of its two buffers
 * @param durationMicros how long it has run so far
 */
record FlightRow(int rank, String group, String call, long bytes, long durationMicros) {
}
