/**
 * Kernels against exact arithmetic, and what they cost.
 */
@NullMarked
package io.tutti.engine.algorithm.kernel;

import org.jspecify.annotations.NullMarked;
