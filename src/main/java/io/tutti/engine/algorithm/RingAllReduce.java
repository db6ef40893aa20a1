package io.tutti.engine.algorithm;

import io.tutti.engine.Call;

/**
 * Ring all-reduce. After {@code N - 1} reducing steps each rank holds one chunk of the
 * result; {@code N - 1} more steps distribute the chunks. Each rank sends
 * {@code 2 (N - 1) / N} times the buffer, the minimum, and no step waits for a whole
 * chunk. The operands of a chunk are combined once, in ring order from the chunk's own
 * rank, so all ranks get identical bits.
 * <p>
 * P. Patarasuk, X. Yuan: Bandwidth optimal all-reduce algorithms for clusters of
 * workstations, Journal of Parallel and Distributed Computing 69 (2009).
 */
final class RingAllReduce implements Algorithm {

	private final RingPass pass;

	private final Chunks chunks;

	private final int worldSize;

	RingAllReduce(RingPass pass, Chunks chunks, int worldSize) {
		this.pass = pass;
		this.chunks = chunks;
		this.worldSize = worldSize;
	}

	@Override
	public void run(Call call) {
		long chunkCount = (call.count() + this.worldSize - 1) / this.worldSize;
		this.chunks.ofBuffer(call.bytes(), chunkCount * call.type().bytes());
		this.pass.prepare(call, call.receiveAddress());
		this.pass.run(this.worldSize - 1, 2 * (this.worldSize - 1));
	}

}
