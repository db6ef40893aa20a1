/**
 * Traces of collectives for whoever set an exporter: spans that line up across ranks,
 * made from the flight recorder. Imports the engine and {@code service.group}.
 */
@NullMarked
package io.tutti.service.tracing;

import org.jspecify.annotations.NullMarked;
