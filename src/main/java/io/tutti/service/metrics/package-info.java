/**
 * The meters: read from the engine's flight recorder when somebody scrapes, so that a
 * call pays nothing for them. Imports the engine, {@code service.group} and {@code
 * service.recorder}.
 */
@NullMarked
package io.tutti.service.metrics;

import org.jspecify.annotations.NullMarked;
