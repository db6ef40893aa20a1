/**
 * How collectives are carried out over the links of a transport. Every algorithm combines
 * operands in an order that depends on ranks alone, never on arrival, so that results are
 * bit-identical on every rank and from run to run.
 */
@NullMarked
package io.tutti.engine.algorithm;

import org.jspecify.annotations.NullMarked;
