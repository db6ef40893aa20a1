/**
 * The same links over queues inside one process: groups of many ranks in one JVM, for
 * tests of everything above the transport.
 */
@NullMarked
package io.tutti.engine.transport.simulated;

import org.jspecify.annotations.NullMarked;
