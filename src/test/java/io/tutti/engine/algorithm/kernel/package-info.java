/**
 * Tests of the kernels against exact arithmetic, and kernel timings.
 */
@NullMarked
package io.tutti.engine.algorithm.kernel;

import org.jspecify.annotations.NullMarked;
