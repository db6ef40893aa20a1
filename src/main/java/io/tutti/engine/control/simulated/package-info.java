/**
 * The control plane of ranks within one process.
 */
@NullMarked
package io.tutti.engine.control.simulated;

import org.jspecify.annotations.NullMarked;
