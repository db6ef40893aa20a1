package io.tutti.engine.algorithm;

import io.tutti.Collective;

/**
 * One row of the algorithm table: up to these sizes, use this algorithm.
 *
 * @param collective collective that the row applies to
 * @param maxWorldSize largest number of ranks that the row applies to
 * @param maxBytes largest buffer that the row applies to; counts the whole buffer, which
 * holds the parts of all ranks where a collective has parts
 * @param algorithm algorithm to use
 */
record AlgorithmRule(Collective collective, int maxWorldSize, long maxBytes, AlgorithmName algorithm) {
}
