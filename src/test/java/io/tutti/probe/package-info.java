/**
 * Tests of the probes against ranks that the JDK's HTTP server simulates.
 */
@NullMarked
package io.tutti.probe;

import org.jspecify.annotations.NullMarked;
