package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;

/**
 * All-reduce by recursive doubling. In each of {@code log2 N} steps a rank sends and
 * combines the whole buffer; two more steps where {@code N} is not a power of two. Has
 * the fewest steps and so the lowest latency for a small buffer: between two ranks it is
 * one exchange. A rank sends {@code log2 N} times the buffer.
 * <p>
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication
 * operations in MPICH, International Journal of High Performance Computing Applications
 * 19 (2005).
 */
final class RecursiveDoublingAllReduce implements Algorithm {

	private final RecursiveDoubling doubling;

	RecursiveDoublingAllReduce(RecursiveDoubling doubling) {
		this.doubling = doubling;
	}

	@Override
	public void run(Call call) {
		NativeMemory.copy(call.sendAddress(), call.receiveAddress(), call.bytes());
		this.doubling.run(call, call.receiveAddress(), call.bytes());
	}

}
