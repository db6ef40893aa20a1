/**
 * Links over in-process queues: groups of many ranks in one JVM, to test the layers above
 * the transport.
 */
@NullMarked
package io.tutti.engine.transport.simulated;

import org.jspecify.annotations.NullMarked;
