package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;

/**
 * All-reduce and reduce-scatter by recursive doubling. In step {@code k} ranks whose
 * positions differ in bit {@code k} exchange the whole buffer. Both combine it with the
 * lower rank's operand first, so both get the same bits; kernels store every NaN as the
 * canonical one. Takes {@code log2 N} steps, two more where {@code N} is not a power of
 * two: the fewest, and so the lowest latency for a small buffer. A rank sends
 * {@code log2 N} times the buffer.
 * <p>
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication
 * operations in MPICH, International Journal of High Performance Computing Applications
 * 19 (2005).
 */
final class RecursiveDoubling {

	private final AlgorithmContext context;

	private final PowerOfTwoFold fold;

	private final Chunks chunks;

	private final Scratch scratch;

	RecursiveDoubling(AlgorithmContext context) {
		this.context = context;
		this.fold = new PowerOfTwoFold(context);
		this.chunks = context.chunks();
		this.scratch = context.scratch();
	}

	void allReduce(Call call) {
		NativeMemory.copy(call.sendAddress(), call.receiveAddress(), call.bytes());
		reduceAll(call, call.receiveAddress(), call.bytes());
	}

	/**
	 * Every rank reduces the whole buffer, one scratch buffer at a time, and keeps its
	 * part.
	 */
	void reduceScatter(Call call) {
		this.chunks.ofParts(call);
		long total = this.chunks.totalBytes();
		long start = 0;
		do {
			long bytes = Math.min(this.scratch.bytes(), total - start);
			NativeMemory.copy(call.sendAddress() + start, this.scratch.address(), bytes);
			reduceAll(call, this.scratch.address(), bytes);
			keepOwn(call, start, bytes);
			start += bytes;
		}
		while (start < total);
	}

	private void keepOwn(Call call, long start, long bytes) {
		long own = this.chunks.start(this.context.rank());
		long first = Math.max(start, own);
		long end = Math.min(start + bytes, own + this.chunks.length(this.context.rank()));
		if (first < end) {
			NativeMemory.copy(this.scratch.address() + first - start, call.receiveAddress() + first - own, end - first);
		}
	}

	/** Reduces a vector in place on every rank with the call's type and operator. */
	private void reduceAll(Call call, long address, long bytes) {
		Exchange exchange = this.context.exchange().prepare(call);
		if (!this.fold.enter(address, bytes)) {
			return;
		}
		int position = this.fold.position();
		for (int bit = 1; bit < this.fold.positions(); bit <<= 1) {
			int peer = this.fold.rankAt(position ^ bit);
			exchange.send(peer, address, bytes).combine(peer, address, bytes, (position & bit) != 0).run();
		}
		this.context.finish(call, address, bytes / call.type().bytes());
		this.fold.leave(address, bytes);
	}

}
