/**
 * The arithmetic of reductions, on raw addresses: vector instructions where the JVM has
 * the module for them, loops that the compiler vectorises itself where it has not.
 */
@NullMarked
package io.tutti.engine.algorithm.kernel;

import org.jspecify.annotations.NullMarked;
