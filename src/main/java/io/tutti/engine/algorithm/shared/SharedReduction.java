package io.tutti.engine.algorithm.shared;

import io.tutti.Collective;
import io.tutti.engine.algorithm.Scratch;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.shm.ShmTransport;

/**
 * Reduce-scatter and reduce of large buffers. Where the buffers of all ranks are
 * accessible in place or can be read, each rank reduces its part directly from them.
 * Otherwise each rank stages a slice of every part and reduces the slices of its own part
 * from the slots of the others. In a reduce there is one part, the root's. Operands are
 * combined in rank order.
 */
final class SharedReduction extends PartCollective {

	/**
	 * A block of every operand stays in the L1 cache, or in the L2 cache if it is read.
	 */
	private static final long BLOCK_BYTES = 16 << 10;

	private static final long READ_BLOCK_BYTES = 128 << 10;

	private final ReductionKernels kernels;

	private final Scratch scratch;

	private final long readBlockBytes;

	/** Bytes of this rank's part that it has reduced directly in this call. */
	private long reduced;

	SharedReduction(int rank, int worldSize, ShmTransport transport, ReductionKernels kernels, Scratch scratch,
			Collective collective) {
		super(rank, worldSize, transport, collective);
		this.kernels = kernels;
		this.scratch = scratch;
		this.readBlockBytes = Math.min(READ_BLOCK_BYTES, scratch.bytes() / 2 & -BLOCK_BYTES);
	}

	@Override
	public boolean post(Call call, boolean readable) {
		this.reduced = 0;
		return super.post(call, readable);
	}

	/**
	 * Stops at a block that cannot be read. The receive buffer may be a part of the send
	 * buffer, so the blocks before it must not be reduced again.
	 */
	@Override
	public void runDirectly(Call call, boolean inPlace) {
		long blockBytes = inPlace ? BLOCK_BYTES : this.readBlockBytes;
		while (receives(call, this.rank) && this.reduced < call.bytes()) {
			long bytes = Math.min(blockBytes, call.bytes() - this.reduced);
			long left = operand(call, 0, bytes, this.scratch.address());
			for (int peer = 1; peer < this.worldSize && left != 0; peer++) {
				long right = operand(call, peer, bytes, this.scratch.address() + this.readBlockBytes);
				left = (right != 0) ? reduce(call, peer, this.reduced, left, right, bytes) : 0;
			}
			if (left == 0) {
				return;
			}
			this.reduced += bytes;
		}
	}

	/** Address of the next block of a peer's operand, or 0 if it cannot be read. */
	private long operand(Call call, int peer, long bytes, long scratch) {
		long offset = part(call, this.rank) + this.reduced;
		return (peer == this.rank) ? call.sendAddress() + offset : this.buffers.access(peer, offset, bytes, scratch);
	}

	@Override
	public void take(Call call, long chunk) {
		long start = start(chunk);
		long skipped = Math.clamp(this.reduced - start, 0, length(call, chunk));
		long bytes = length(call, chunk) - skipped;
		long left = staged(call, 0, chunk) + skipped;
		for (int peer = 1; peer < this.worldSize && bytes > 0; peer++) {
			left = reduce(call, peer, start + skipped, left, staged(call, peer, chunk) + skipped, bytes);
		}
	}

	/** Address of a peer's operand for this rank's part of a chunk. */
	private long staged(Call call, int peer, long chunk) {
		return (peer == this.rank) ? source(call, peer, chunk) : staged(peer, chunk);
	}

	/**
	 * Combines a peer's operand with the operands of the ranks before it. The receive
	 * buffer may be a part of the send buffer, so only the last step writes to it.
	 * @param offset offset of the block in the part
	 * @return address of the result
	 */
	private long reduce(Call call, int peer, long offset, long left, long right, long bytes) {
		boolean last = peer == this.worldSize - 1;
		long target = last ? call.receiveAddress() + offset : this.scratch.address();
		long count = bytes / call.type().bytes();
		this.kernels.reduce(call.type(), call.op(), target, left, right, count);
		if (last) {
			this.kernels.finish(call.type(), call.op(), target, count, this.worldSize);
		}
		return target;
	}

}
