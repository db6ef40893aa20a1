/**
 * Element-wise reductions of two blocks in raw native memory. Uses vector loops if the
 * JVM has its vector module, otherwise scalar loops; both produce the same bits.
 */
@NullMarked
package io.tutti.engine.algorithm.kernel;

import org.jspecify.annotations.NullMarked;
