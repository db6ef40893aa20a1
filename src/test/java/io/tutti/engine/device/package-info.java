/**
 * Device memory that is main memory, on simulated groups.
 */
@NullMarked
package io.tutti.engine.device;

import org.jspecify.annotations.NullMarked;
