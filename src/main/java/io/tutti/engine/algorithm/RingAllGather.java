package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;

/**
 * All-gather round a ring, the second half of {@link RingAllReduce}: in {@code N - 1}
 * steps each rank passes on what it received last. Each rank sends {@code N - 1} parts,
 * the least possible.
 * <p>
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication
 * operations in MPICH, International Journal of High Performance Computing Applications
 * 19 (2005).
 */
final class RingAllGather implements Algorithm {

	private final RingAllReduce ring;

	private final Chunks chunks;

	private final int rank;

	private final int worldSize;

	RingAllGather(RingAllReduce ring, Chunks chunks, int rank, int worldSize) {
		this.ring = ring;
		this.chunks = chunks;
		this.rank = rank;
		this.worldSize = worldSize;
	}

	@Override
	public void run(Call call) {
		this.chunks.ofParts(call);
		NativeMemory.copy(call.sendAddress(), call.receiveAddress() + this.chunks.start(this.rank), call.sendBytes());
		this.ring.pass(call, call.receiveAddress(), 0, this.worldSize - 1);
	}

}
