/**
 * The meters, which read the engine's flight recorder at scrape time and add no cost to a
 * call. Imports the engine, {@code service.group}, {@code service.recorder} and the
 * results of {@code training}.
 */
@NullMarked
package io.tutti.service.metrics;

import org.jspecify.annotations.NullMarked;
