package io.tutti.engine.algorithm;

import io.tutti.engine.Collective;
import org.jspecify.annotations.Nullable;

/**
 * One line of the selector's table: up to these sizes, this algorithm.
 *
 * @param collective what is called
 * @param transport name of the transport that the line is for, {@code null} for any
 * @param maxWorldSize most ranks that the line is for
 * @param maxBytes largest buffer that the line is for: of the whole buffer, which holds
 * all ranks' parts where there are parts
 * @param algorithm what carries the call out
 */
record AlgorithmRule(Collective collective, @Nullable String transport, int maxWorldSize, long maxBytes,
		AlgorithmName algorithm) {

	boolean concerns(Collective collective, String transport, int worldSize) {
		return this.collective == collective && (this.transport == null || this.transport.equals(transport))
				&& worldSize <= this.maxWorldSize;
	}

}
