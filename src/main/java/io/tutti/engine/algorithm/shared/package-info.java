/**
 * Collectives in shared memory, among the ranks of one host: flat algorithms for small
 * calls, staged or direct ones for large buffers. Operands are always combined in rank
 * order. All other calls use links and the algorithms of the parent package.
 */
@NullMarked
package io.tutti.engine.algorithm.shared;

import org.jspecify.annotations.NullMarked;
