/**
 * Collective algorithms on the links of a transport. Every algorithm combines operands in
 * an order that depends only on ranks, never on arrival, so results are bit-identical on
 * every rank and from run to run. The papers are in {@code algorithms.md}.
 */
@NullMarked
package io.tutti.engine.algorithm;

import org.jspecify.annotations.NullMarked;
