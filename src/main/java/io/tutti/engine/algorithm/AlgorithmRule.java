package io.tutti.engine.algorithm;

import io.tutti.Collective;
import org.jspecify.annotations.Nullable;

/**
 * One row of the algorithm table: up to these sizes, use this algorithm.
 *
 * @param collective collective that the row applies to
 * @param transport name of the transport that the row applies to, {@code null} for any
 * @param maxWorldSize largest number of ranks that the row applies to
 * @param maxBytes largest buffer that the row applies to; counts the whole buffer, which
 * holds the parts of all ranks where a collective has parts
 * @param algorithm algorithm to use
 */
record AlgorithmRule(Collective collective, @Nullable String transport, int maxWorldSize, long maxBytes,
		AlgorithmName algorithm) {

	boolean appliesTo(Collective collective, String transport, int worldSize) {
		return this.collective == collective && (this.transport == null || this.transport.equals(transport))
				&& worldSize <= this.maxWorldSize;
	}

}
