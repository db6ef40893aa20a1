/**
 * The meters, which read the engine's flight recorder at scrape time and add no cost to a
 * call. Imports the engine, {@code service.group} and {@code service.recorder}.
 */
@NullMarked
package io.tutti.service.metrics;

import org.jspecify.annotations.NullMarked;
