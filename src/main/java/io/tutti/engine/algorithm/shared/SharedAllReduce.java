package io.tutti.engine.algorithm.shared;

import io.tutti.ReduceOp;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.ChunkPipeline;
import io.tutti.engine.transport.shm.PeerBuffers;
import io.tutti.engine.transport.shm.ShmTransport;

/**
 * All-reduce of large buffers. Where all buffers are accessible in place, each rank
 * reduces its share of the elements from all buffers, in rank order, and stores the
 * result to all buffers; it reads and writes {@code N} shares, one buffer's worth,
 * whatever the number of ranks. Otherwise a buffer is divided into chunks, and a chunk
 * into one part per rank. For each chunk a rank stages the parts of the other ranks. It
 * reduces its own part from its buffer and the slots of the others, in rank order, and
 * stores the result to its buffer and to a slot in one pass. It then copies the results
 * of the other parts. The three stages overlap, each several chunks ahead of the next. A
 * rank copies {@code 2 (N - 1) / N} times the buffer and reduces {@code 1 / N} of it from
 * {@code N} operands.
 * <p>
 * The algorithm is reduce-scatter and all-gather by direct exchange; R. Thakur, R.
 * Rabenseifner, W. Gropp: Optimization of collective communication operations in MPICH,
 * International Journal of High Performance Computing Applications 19 (2005).
 */
final class SharedAllReduce implements LargeCollective {

	/** Shares and parts are aligned to cache lines. */
	private static final long ALIGNMENT = 64;

	/** A block stays in the L1 cache between operands. */
	private static final long BLOCK_BYTES = 16 << 10;

	/**
	 * Bytes that are reduced between two checks: when another rank's call fails, its
	 * buffer must not be written for long.
	 */
	private static final long CHECKED_BYTES = 1 << 20;

	private final int rank;

	private final int worldSize;

	private final ShmTransport transport;

	private final PeerBuffers buffers;

	private final ChunkPipeline pipeline;

	private final ReductionKernels kernels;

	private long bytes;

	private long partBytes;

	SharedAllReduce(int rank, int worldSize, ShmTransport transport, ReductionKernels kernels) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.transport = transport;
		this.buffers = transport.buffers();
		this.pipeline = transport.pipeline();
		this.kernels = kernels;
	}

	/**
	 * Posts the receive buffer, in which ranks reduce in place; it holds the operand
	 * first.
	 */
	@Override
	public boolean post(Call call, boolean readable) {
		if (call.sendAddress() != call.receiveAddress()
				&& this.buffers.contain(call.receiveAddress(), call.receiveBytes())) {
			NativeMemory.copy(call.sendAddress(), call.receiveAddress(), call.receiveBytes());
		}
		return this.buffers.post(call.receiveAddress(), call.receiveBytes());
	}

	@Override
	public void runDirectly(Call call, boolean inPlace) {
		long share = (call.bytes() / this.worldSize + ALIGNMENT) & -ALIGNMENT;
		long start = this.rank * share;
		long end = Math.min(start + share, call.bytes());
		for (long offset = start; offset < end; offset += CHECKED_BYTES) {
			this.buffers.requireWritable();
			if (offset > start) {
				this.transport.check();
			}
			reduceBlocks(call, offset, Math.min(offset + CHECKED_BYTES, end));
		}
	}

	private void reduceBlocks(Call call, long start, long end) {
		for (long offset = start; offset < end; offset += BLOCK_BYTES) {
			reduceBlock(call, offset, Math.min(BLOCK_BYTES, end - offset));
		}
	}

	private void reduceBlock(Call call, long offset, long bytes) {
		long count = bytes / call.type().bytes();
		long result = this.buffers.address(0) + offset;
		long second = this.buffers.address(1) + offset;
		int last = this.worldSize - 1;
		for (int peer = 1; peer < last; peer++) {
			this.kernels.reduce(call.type(), call.op(), result, result, this.buffers.address(peer) + offset, count);
		}
		this.kernels.reduceToBoth(call.type(), call.op(), result, second, result, this.buffers.address(last) + offset,
				count);
		if (call.op() == ReduceOp.AVERAGE) {
			this.kernels.finish(call.type(), call.op(), result, count, this.worldSize);
			NativeMemory.copy(result, second, bytes);
		}
		for (int peer = 2; peer < this.worldSize; peer++) {
			NativeMemory.copy(result, this.buffers.address(peer) + offset, bytes);
		}
	}

	@Override
	public long divide(Call call) {
		long slotBytes = LargeAlgorithm.slotBytes(call.bytes(), this.worldSize);
		this.bytes = call.bytes();
		this.partBytes = LargeAlgorithm.sliceBytes(slotBytes, this.worldSize);
		return slotBytes;
	}

	@Override
	public long chunks(Call call) {
		return (this.bytes + chunkBytes() - 1) / chunkBytes();
	}

	@Override
	public void put(Call call, long chunk) {
		for (int step = 1; step < this.worldSize; step++) {
			int part = (this.rank + step) % this.worldSize;
			NativeMemory.copy(call.sendAddress() + start(chunk, part), staged(this.rank, chunk, part),
					length(chunk, part));
		}
	}

	@Override
	public boolean reduces() {
		return true;
	}

	@Override
	public void reduce(Call call, long chunk) {
		long count = length(chunk, this.rank) / call.type().bytes();
		long target = call.receiveAddress() + start(chunk, this.rank);
		long result = staged(holder(this.rank), chunk, this.rank);
		int last = this.worldSize - 1;
		long left = operand(call, chunk, 0);
		for (int peer = 1; peer < last; peer++) {
			this.kernels.reduce(call.type(), call.op(), result, left, operand(call, chunk, peer), count);
			left = result;
		}
		this.kernels.reduceToBoth(call.type(), call.op(), target, result, left, operand(call, chunk, last), count);
		if (call.op() == ReduceOp.AVERAGE) {
			this.kernels.finish(call.type(), call.op(), target, count, this.worldSize);
			this.kernels.finish(call.type(), call.op(), result, count, this.worldSize);
		}
	}

	/** Address of a peer's operand for this rank's part of a chunk. */
	private long operand(Call call, long chunk, int peer) {
		return (peer == this.rank) ? call.sendAddress() + start(chunk, this.rank) : staged(peer, chunk, this.rank);
	}

	@Override
	public void take(Call call, long chunk) {
		for (int step = 1; step < this.worldSize; step++) {
			int part = (this.rank + step) % this.worldSize;
			NativeMemory.copy(staged(holder(part), chunk, part), call.receiveAddress() + start(chunk, part),
					length(chunk, part));
		}
	}

	/**
	 * The rank whose slot holds the result of a part. This is the reducing rank, whose
	 * slot has no operand there. With two ranks the result replaces the operand in the
	 * peer's slot, which is already in the cache.
	 */
	private int holder(int part) {
		return (this.worldSize == 2) ? 1 - part : part;
	}

	private long staged(int holder, long chunk, int part) {
		return this.pipeline.slot(holder, chunk) + part * this.partBytes;
	}

	private long chunkBytes() {
		return this.partBytes * this.worldSize;
	}

	/** Offset of a part in the buffer. */
	private long start(long chunk, int part) {
		return Math.min(chunk * chunkBytes() + part * usedPartBytes(chunk), this.bytes);
	}

	private long length(long chunk, int part) {
		return Math.min(start(chunk, part) + usedPartBytes(chunk), this.bytes) - start(chunk, part);
	}

	/**
	 * Bytes of each part of a chunk; a short last chunk is divided among all ranks, too.
	 */
	private long usedPartBytes(long chunk) {
		long left = this.bytes - chunk * chunkBytes();
		if (left >= chunkBytes()) {
			return this.partBytes;
		}
		long each = (left + this.worldSize - 1) / this.worldSize;
		return (each + ALIGNMENT - 1) & -ALIGNMENT;
	}

}
