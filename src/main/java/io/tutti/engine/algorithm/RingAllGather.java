package io.tutti.engine.algorithm;

import io.tutti.engine.Call;
import io.tutti.engine.NativeMemory;

/**
 * Ring all-gather. In each of {@code N - 1} steps a rank forwards the part that it
 * received last. Each rank sends {@code N - 1} parts, the minimum.
 * <p>
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication
 * operations in MPICH, International Journal of High Performance Computing Applications
 * 19 (2005).
 */
final class RingAllGather implements Algorithm {

	private final RingPass pass;

	private final Chunks chunks;

	private final int rank;

	private final int worldSize;

	RingAllGather(RingPass pass, Chunks chunks, int rank, int worldSize) {
		this.pass = pass;
		this.chunks = chunks;
		this.rank = rank;
		this.worldSize = worldSize;
	}

	@Override
	public void run(Call call) {
		this.chunks.ofParts(call);
		NativeMemory.copy(call.sendAddress(), call.receiveAddress() + this.chunks.start(this.rank), call.sendBytes());
		this.pass.prepare(call, call.receiveAddress());
		this.pass.run(0, this.worldSize - 1);
	}

}
