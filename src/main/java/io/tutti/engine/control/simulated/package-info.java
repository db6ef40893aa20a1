/**
 * The control plane of ranks within one process. Imports the control plane.
 */
@NullMarked
package io.tutti.engine.control.simulated;

import org.jspecify.annotations.NullMarked;
