package io.tutti.engine.algorithm.shared;

import io.tutti.engine.Call;
import io.tutti.engine.NativeMemory;
import io.tutti.engine.ReduceOp;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.transport.shm.ShmTransport;
import io.tutti.engine.transport.shm.ChunkPipeline;

/**
 * All-reduce of large buffers. Where all can be reached in place, see
 * {@link DirectAllReduce}. Otherwise a buffer is cut into chunks, and a chunk into one
 * part per rank. For each chunk a rank puts the parts of the others on its stage, reduces
 * its own part from its buffer and the stages of the others, in rank order, storing the
 * result to its buffer and to a stage in one pass, and takes the other parts' results.
 * The three run side by side, each some chunks ahead of the next. A rank copies
 * {@code 2 (N - 1) /
 * N} times the buffer and reduces {@code 1 / N} of it from {@code N} operands.
 * <p>
 * The idea is that of reduce-scatter and all-gather by direct exchange; R. Thakur, R.
 * Rabenseifner, W. Gropp: Optimization of collective communication operations in MPICH,
 * International Journal of High Performance Computing Applications 19 (2005).
 */
final class SharedAllReduce implements Algorithm {

	/** Parts begin at a multiple of a cache line. */
	private static final long ALIGNMENT = 64;

	private final int rank;

	private final int worldSize;

	private final ShmTransport transport;

	private final ChunkPipeline stage;

	private final ReductionKernels kernels;

	private final DirectAllReduce direct;

	private long bytes;

	private long partBytes;

	private long chunks;

	private boolean everyoneArrived;

	SharedAllReduce(int rank, int worldSize, ShmTransport transport, ReductionKernels kernels) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.transport = transport;
		this.stage = transport.stage();
		this.kernels = kernels;
		this.direct = new DirectAllReduce(rank, worldSize, transport.buffers(), kernels);
	}

	@Override
	public void run(Call call) {
		if (this.transport.buffers().post(call)) {
			this.transport.board().awaitAll();
			if (this.transport.buffers().allReachable()) {
				this.direct.run(call);
				return;
			}
		}
		pass(call);
	}

	private void pass(Call call) {
		long slotBytes = ChunkSize.slotBytes(call.bytes());
		this.bytes = call.bytes();
		this.partBytes = ChunkSize.sliceBytes(slotBytes, this.worldSize);
		this.chunks = (this.bytes + chunkBytes() - 1) / chunkBytes();
		this.everyoneArrived = false;
		this.stage.begin(slotBytes);
		long put = 0;
		long reduced = 0;
		long taken = 0;
		while (taken < this.chunks) {
			boolean moved = false;
			if (put < this.chunks && this.stage.free(put)) {
				put(call, put++);
				moved = true;
			}
			if (reduced < put && everyonePut(reduced)) {
				reduce(call, reduced++);
				moved = true;
			}
			if (taken < reduced && everyoneReduced(taken)) {
				take(call, taken++);
				moved = true;
			}
			this.transport.endRound(moved);
		}
		this.stage.end(this.chunks);
	}

	private void put(Call call, long chunk) {
		for (int step = 1; step < this.worldSize; step++) {
			int part = (this.rank + step) % this.worldSize;
			NativeMemory.copy(call.sendAddress() + start(chunk, part), staged(this.rank, chunk, part),
					length(chunk, part));
		}
		this.stage.put(chunk);
	}

	private boolean everyonePut(long chunk) {
		if (!this.everyoneArrived) {
			for (int peer = 0; peer < this.worldSize; peer++) {
				if (!this.transport.board().arrived(peer)) {
					return false;
				}
			}
			this.everyoneArrived = true;
		}
		for (int peer = 0; peer < this.worldSize; peer++) {
			if (!this.stage.hasPut(peer, chunk)) {
				return false;
			}
		}
		return true;
	}

	private void reduce(Call call, long chunk) {
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
		this.stage.reduced(chunk);
	}

	/** This rank's part of a chunk as a peer gives it. */
	private long operand(Call call, long chunk, int peer) {
		return (peer == this.rank) ? call.sendAddress() + start(chunk, this.rank) : staged(peer, chunk, this.rank);
	}

	private boolean everyoneReduced(long chunk) {
		for (int peer = 0; peer < this.worldSize; peer++) {
			if (!this.stage.hasReduced(peer, chunk)) {
				return false;
			}
		}
		return true;
	}

	private void take(Call call, long chunk) {
		for (int step = 1; step < this.worldSize; step++) {
			int part = (this.rank + step) % this.worldSize;
			NativeMemory.copy(staged(holder(part), chunk, part), call.receiveAddress() + start(chunk, part),
					length(chunk, part));
		}
		this.stage.taken(chunk);
	}

	/**
	 * On whose stage the result of a part is left: the reducing rank's own, where its
	 * part of the slot is not used otherwise. Two ranks leave it where the operand was,
	 * which is in the cache.
	 */
	private int holder(int part) {
		return (this.worldSize == 2) ? 1 - part : part;
	}

	private long staged(int holder, long chunk, int part) {
		return this.stage.slot(holder, chunk) + part * this.partBytes;
	}

	private long chunkBytes() {
		return this.partBytes * this.worldSize;
	}

	/** Where in the buffer a part begins. */
	private long start(long chunk, int part) {
		return Math.min(chunk * chunkBytes() + part * usedPartBytes(chunk), this.bytes);
	}

	private long length(long chunk, int part) {
		return Math.min(start(chunk, part) + usedPartBytes(chunk), this.bytes) - start(chunk, part);
	}

	/** The last chunk is shared out too. */
	private long usedPartBytes(long chunk) {
		long left = this.bytes - chunk * chunkBytes();
		if (left >= chunkBytes()) {
			return this.partBytes;
		}
		long each = (left + this.worldSize - 1) / this.worldSize;
		return (each + ALIGNMENT - 1) & -ALIGNMENT;
	}

}
