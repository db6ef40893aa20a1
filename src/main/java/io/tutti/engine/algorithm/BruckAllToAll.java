package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;

/**
 * Bruck all-to-all. A part travels to its receiver's distance by powers of two; all parts
 * that take the same hop are sent together. Takes {@code ceil(log2 N)} steps instead of
 * {@code N - 1} and sends {@code log2 N / 2} times the bytes. Used for small parts.
 * Larger parts are processed in slices, to bound the scratch memory.
 * <p>
 * J. Bruck et al.: Efficient algorithms for all-to-all communications in multiport
 * message-passing systems, IEEE Transactions on Parallel and Distributed Systems 8
 * (1997).
 */
final class BruckAllToAll implements Algorithm {

	private final AlgorithmContext context;

	private final int worldSize;

	private final Scratch scratch;

	BruckAllToAll(AlgorithmContext context) {
		this.context = context;
		this.worldSize = context.worldSize();
		this.scratch = context.scratch();
	}

	@Override
	public void run(Call call) {
		long part = call.bytes();
		long maxBytes = this.scratch.bytes() / (2L * this.worldSize);
		long start = 0;
		do {
			long bytes = Math.min(maxBytes, part - start);
			slice(call, part, start, bytes);
			start += bytes;
		}
		while (start < part);
	}

	/** Exchanges one slice of every part; scratch memory holds them by distance. */
	private void slice(Call call, long part, long start, long bytes) {
		for (int distance = 0; distance < this.worldSize; distance++) {
			int receiver = this.context.ahead(distance);
			NativeMemory.copy(call.sendAddress() + receiver * part + start, held(distance, bytes), bytes);
		}
		for (int jump = 1; jump < this.worldSize; jump <<= 1) {
			jump(jump, bytes);
		}
		for (int distance = 0; distance < this.worldSize; distance++) {
			int sender = this.context.behind(distance);
			NativeMemory.copy(held(distance, bytes), call.receiveAddress() + sender * part + start, bytes);
		}
	}

	/** Packs and exchanges the parts whose distance has the bit of this hop. */
	private void jump(int jump, long bytes) {
		long out = held(this.worldSize, bytes);
		long end = out;
		for (int distance = jump; distance < this.worldSize; distance = next(distance, jump)) {
			NativeMemory.copy(held(distance, bytes), end, bytes);
			end += bytes;
		}
		long packed = end - out;
		this.context.exchange()
			.send(this.context.ahead(jump), out, packed)
			.receive(this.context.behind(jump), end, packed)
			.run();
		for (int distance = jump; distance < this.worldSize; distance = next(distance, jump)) {
			NativeMemory.copy(end, held(distance, bytes), bytes);
			end += bytes;
		}
	}

	/** The next larger distance that has the bit of the hop. */
	private static int next(int distance, int jump) {
		return (distance + 1) | jump;
	}

	private long held(int distance, long bytes) {
		return this.scratch.address() + distance * bytes;
	}

}
