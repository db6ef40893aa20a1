/**
 * Asks running ranks over HTTP how they are, for an image that carries no tool but Java.
 * Starts in a fraction of a second, so it imports nothing of ours and no framework; only
 * {@link io.tutti.probe.GroupProbe} reads JSON.
 */
@NullMarked
package io.tutti.probe;

import org.jspecify.annotations.NullMarked;
