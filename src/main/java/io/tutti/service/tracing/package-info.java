/**
 * Traces of collectives, if a span exporter is configured: spans that line up across
 * ranks, built from the flight recorder. Imports the engine and {@code service.group}.
 */
@NullMarked
package io.tutti.service.tracing;

import org.jspecify.annotations.NullMarked;
