/**
 * HTTP probes of running ranks, for an image without tools other than Java. To start in a
 * fraction of a second, the package imports no framework and of this project only the
 * reader of the token. Only {@link io.tutti.probe.GroupProbe} parses JSON.
 */
@NullMarked
package io.tutti.probe;

import org.jspecify.annotations.NullMarked;
