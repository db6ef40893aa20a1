package io.tutti.engine.algorithm.hierarchical;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.Scratch;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;

/**
 * Two-level reduce: on each host to the rank with the root's local rank, and from those
 * ranks to the root. Ranks other than the root hold one segment at a time. Each host
 * sends the buffer once. Operands are combined host by host.
 */
final class HierarchicalReduce implements Algorithm {

	private final Hosts hosts;

	private final Levels levels;

	private final int rank;

	private final ReductionKernels kernels;

	private final Scratch scratch;

	HierarchicalReduce(Hosts hosts, Levels levels, int rank, ReductionKernels kernels, Scratch scratch) {
		this.hosts = hosts;
		this.levels = levels;
		this.rank = rank;
		this.kernels = kernels;
		this.scratch = scratch;
	}

	/**
	 * Whether every host has a rank with the root's local rank that takes part between
	 * hosts.
	 */
	boolean reaches(int root) {
		return this.hosts.even() || this.hosts.place(root) == 0;
	}

	@Override
	public void run(Call call) {
		boolean root = call.root() == this.rank;
		long segmentCount = this.scratch.bytes() / call.type().bytes();
		long done = 0;
		do {
			long count = Math.min(segmentCount, call.count() - done);
			long offset = done * call.type().bytes();
			segment(call, count, offset, root ? call.receiveAddress() + offset : this.scratch.address());
			done += count;
		}
		while (done < call.count());
		if (root) {
			this.kernels.finish(call.type(), call.op(), call.receiveAddress(), call.count(), this.hosts.worldSize());
		}
	}

	private void segment(Call call, long count, long offset, long target) {
		int localRoot = this.hosts.place(call.root());
		this.levels.reduceWithin(call, count, localRoot, call.sendAddress() + offset, target);
		if (this.levels.place() == localRoot) {
			this.levels.reduceAcross(call, count, this.hosts.host(call.root()), target, target);
		}
	}

}
