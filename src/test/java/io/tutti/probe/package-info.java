/**
 * Tests of the probes against ranks that are played by the JDK's own HTTP server.
 */
@NullMarked
package io.tutti.probe;

import org.jspecify.annotations.NullMarked;
