package io.tutti.service.page;

/**
 * An event on the page's timeline.
 *
 * @param atMillis milliseconds since 1970
 * @param kind {@code start}, {@code generation}, {@code left}, {@code lost},
 * {@code broken} or {@code training}
 * @param text what happened
 */
record PageEvent(long atMillis, String kind, String text) {
}
