package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;

/**
 * Reduce-scatter of a small buffer. Every rank {@linkplain RecursiveDoubling reduces all
 * of it}, one scratch buffer at a time, and keeps its own part. Takes {@code log2 N}
 * steps instead of a ring's {@code N - 1}, and sends {@code log2 N} times the bytes.
 */
final class RecursiveDoublingReduceScatter implements Algorithm {

	private final RecursiveDoubling doubling;

	private final Chunks chunks;

	private final int rank;

	private final Scratch scratch;

	RecursiveDoublingReduceScatter(RecursiveDoubling doubling, Chunks chunks, int rank, Scratch scratch) {
		this.doubling = doubling;
		this.chunks = chunks;
		this.rank = rank;
		this.scratch = scratch;
	}

	@Override
	public void run(Call call) {
		this.chunks.ofParts(call);
		long total = this.chunks.totalBytes();
		long start = 0;
		do {
			long bytes = Math.min(this.scratch.bytes(), total - start);
			NativeMemory.copy(call.sendAddress() + start, this.scratch.address(), bytes);
			this.doubling.run(call, this.scratch.address(), bytes);
			keep(call, start, bytes);
			start += bytes;
		}
		while (start < total);
	}

	private void keep(Call call, long start, long bytes) {
		long own = this.chunks.start(this.rank);
		long first = Math.max(start, own);
		long end = Math.min(start + bytes, own + this.chunks.length(this.rank));
		if (first < end) {
			NativeMemory.copy(this.scratch.address() + first - start, call.receiveAddress() + first - own, end - first);
		}
	}

}
