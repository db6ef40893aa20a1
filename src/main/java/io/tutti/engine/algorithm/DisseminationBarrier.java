package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.Link;
import io.tutti.engine.transport.Transport;

/**
 * Dissemination barrier. In step {@code k} each rank signals the rank {@code 2^k} ahead
 * and waits for the one {@code 2^k} behind. After {@code ceil(log2 N)} steps every rank
 * has heard from every other, directly or through intermediaries. The message is the
 * call's fingerprint.
 * <p>
 * D. Hensgen, R. Finkel, U. Manber: Two algorithms for barrier synchronization,
 * International Journal of Parallel Programming 17 (1988).
 */
final class DisseminationBarrier implements Algorithm {

	private final int rank;

	private final int worldSize;

	private final Transport transport;

	DisseminationBarrier(int rank, int worldSize, Transport transport) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.transport = transport;
	}

	@Override
	public void run(Call call) {
		for (int distance = 1; distance < this.worldSize; distance <<= 1) {
			Link ahead = this.transport.link((this.rank + distance) % this.worldSize);
			Link behind = this.transport.link(Math.floorMod(this.rank - distance, this.worldSize));
			while (!(ahead.sendFingerprint() & behind.fingerprintReceived())) {
				this.transport.stalled();
			}
			this.transport.moved();
		}
	}

}
