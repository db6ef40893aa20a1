package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;

/**
 * Dissemination barrier. In step {@code k} each rank signals the rank {@code 2^k} ahead
 * and waits for the one {@code 2^k} behind. After {@code ceil(log2 N)} steps every rank
 * has received a signal from every other, directly or through intermediaries. The message
 * is the call's fingerprint.
 * <p>
 * D. Hensgen, R. Finkel, U. Manber: Two algorithms for barrier synchronization,
 * International Journal of Parallel Programming 17 (1988).
 */
record DisseminationBarrier(AlgorithmContext context) implements Algorithm {

	@Override
	public void run(Call call) {
		for (int distance = 1; distance < this.context.worldSize(); distance <<= 1) {
			this.context.exchange()
				.send(this.context.ahead(distance), 0, 0)
				.receive(this.context.behind(distance), 0, 0)
				.run();
		}
	}

}
