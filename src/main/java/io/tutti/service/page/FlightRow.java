package io.tutti.service.page;

/**
 * A collective that a rank is in.
 *
 * @param rank the rank
 * @param group name of the group
 * @param call what was called, in words
 * @param bytes size of the larger of its two buffers
 * @param durationMicros for how long
 */
record FlightRow(int rank, String group, String call, long bytes, long durationMicros) {
}
