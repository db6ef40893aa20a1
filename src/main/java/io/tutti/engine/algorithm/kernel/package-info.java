/**
 * Element-wise arithmetic on raw native memory: what a reduction does to two blocks of
 * elements. Vector loops where the JVM has its vector module, scalar loops elsewhere;
 * both give the same bits. Imports the engine's root package only.
 */
@NullMarked
package io.tutti.engine.algorithm.kernel;

import org.jspecify.annotations.NullMarked;
