/**
 * Collective algorithms on the links of a transport. Every algorithm combines operands in
 * an order that depends only on ranks, never on arrival, so results are bit-identical on
 * every rank and from run to run. Imports the engine's root package, transports and
 * kernels.
 */
@NullMarked
package io.tutti.engine.algorithm;

import org.jspecify.annotations.NullMarked;
