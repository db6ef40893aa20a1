package io.tutti.engine.algorithm.hierarchical;

import io.tutti.engine.Call;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.Scratch;
import io.tutti.engine.algorithm.kernel.ReductionKernels;

/**
 * Reduce on two levels: on each host to the rank of the root's place, and from those to
 * the root. Hosts other than the root's hold a piece at a time. The buffer comes from
 * each host once. Operands are combined host by host.
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

	/** Whether every host has a rank of the root's place that works between hosts. */
	boolean reaches(int root) {
		return this.hosts.even() || this.hosts.place(root) == 0;
	}

	@Override
	public void run(Call call) {
		boolean root = call.root() == this.rank;
		long pieceCount = this.scratch.bytes() / call.type().bytes();
		long done = 0;
		do {
			long count = Math.min(pieceCount, call.count() - done);
			long offset = done * call.type().bytes();
			piece(call, count, offset, root ? call.receiveAddress() + offset : this.scratch.address());
			done += count;
		}
		while (done < call.count());
		if (root) {
			this.kernels.finish(call.type(), call.op(), call.receiveAddress(), call.count(), this.hosts.worldSize());
		}
	}

	private void piece(Call call, long count, long offset, long target) {
		int place = this.hosts.place(call.root());
		this.levels.reduceWithin(call, count, place, call.sendAddress() + offset, target);
		if (this.levels.place() == place) {
			this.levels.reduceAcross(call, count, this.hosts.host(call.root()), target, target);
		}
	}

}
