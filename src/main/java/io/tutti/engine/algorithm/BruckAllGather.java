package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;

/**
 * Bruck all-gather. In each step a rank sends all parts it has, its own and those of the
 * ranks after it, to the rank {@code 2^k} before it. Takes {@code ceil(log2 N)} steps for
 * any {@code N}; each rank sends {@code N - 1} parts. Used for small parts. Parts are
 * received directly at their final place.
 * <p>
 * J. Bruck et al.: Efficient algorithms for all-to-all communications in multiport
 * message-passing systems, IEEE Transactions on Parallel and Distributed Systems 8
 * (1997).
 */
record BruckAllGather(AlgorithmContext context) implements Algorithm {

	@Override
	public void run(Call call) {
		Chunks chunks = this.context.chunks();
		chunks.ofParts(call);
		int rank = this.context.rank();
		long start = call.receiveAddress();
		long own = start + chunks.start(rank);
		NativeMemory.copy(call.sendAddress(), own, call.sendBytes());
		long held = call.sendBytes();
		for (int distance = 1; distance < this.context.worldSize(); distance <<= 1) {
			int parts = Math.min(distance, this.context.worldSize() - distance);
			int from = this.context.ahead(distance);
			long received = span(from, parts);
			this.context.exchange()
				.around(start, start + chunks.totalBytes())
				.send(this.context.behind(distance), own, span(rank, parts))
				.receive(from, own + held, received)
				.run();
			held += received;
		}
	}

	/**
	 * Bytes of a number of consecutive parts, the first of which belongs to the given
	 * rank.
	 */
	private long span(int first, int parts) {
		Chunks chunks = this.context.chunks();
		int worldSize = this.context.worldSize();
		int end = first + parts;
		long bytes = chunks.start(Math.min(end, worldSize)) - chunks.start(first);
		return (end > worldSize) ? bytes + chunks.start(end - worldSize) : bytes;
	}

}
