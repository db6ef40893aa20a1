package io.tutti.engine.algorithm.shared;

import io.tutti.engine.algorithm.Scratch;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.shm.PeerBuffers;
import io.tutti.engine.transport.shm.ShmTransport;

/**
 * Reduce-scatter of large buffers. Where the buffers of all ranks are accessible in
 * place, each rank reduces its part directly from them. Otherwise each rank stages a
 * slice of every part and reduces the slices of its own part from the slots of the
 * others. Operands are combined in rank order.
 */
final class SharedReduceScatter implements LargeCollective {

	/** A block stays in the L1 cache between operands. */
	private static final long BLOCK_BYTES = 16 << 10;

	private final int rank;

	private final int worldSize;

	private final PeerBuffers buffers;

	private final ReductionKernels kernels;

	private final Scratch scratch;

	private final PartSlices slices;

	SharedReduceScatter(int rank, int worldSize, ShmTransport transport, ReductionKernels kernels, Scratch scratch) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.buffers = transport.buffers();
		this.slices = new PartSlices(rank, worldSize, transport.pipeline(), true);
		this.kernels = kernels;
		this.scratch = scratch;
	}

	@Override
	public boolean post(Call call, boolean readable) {
		return this.buffers.post(call.sendAddress(), call.sendBytes());
	}

	@Override
	public void runDirectly(Call call) {
		for (long done = 0; done < call.bytes(); done += BLOCK_BYTES) {
			long bytes = Math.min(BLOCK_BYTES, call.bytes() - done);
			long offset = this.rank * call.bytes() + done;
			long left = this.buffers.address(0) + offset;
			for (int peer = 1; peer < this.worldSize; peer++) {
				left = reduce(call, peer, done, left, this.buffers.address(peer) + offset, bytes);
			}
		}
	}

	@Override
	public long divide(Call call) {
		return this.slices.divide(call);
	}

	@Override
	public long chunks(Call call) {
		return this.slices.chunks(call);
	}

	@Override
	public void put(Call call, long chunk) {
		this.slices.put(call, chunk);
	}

	@Override
	public void take(Call call, long chunk) {
		long bytes = this.slices.length(call, chunk);
		long left = operand(call, 0, chunk);
		for (int peer = 1; peer < this.worldSize; peer++) {
			left = reduce(call, peer, this.slices.start(chunk), left, operand(call, peer, chunk), bytes);
		}
	}

	/** Address of a peer's operand for this rank's part of a chunk. */
	private long operand(Call call, int peer, long chunk) {
		return (peer == this.rank) ? this.slices.source(call, peer, chunk) : this.slices.staged(peer, chunk);
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
