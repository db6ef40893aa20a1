package io.tutti.engine.algorithm.hierarchical;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;

/**
 * Two-level all-reduce. A large buffer is reduce-scattered within each host; ranks with
 * the same local rank all-reduce their parts between hosts, all local ranks concurrently;
 * and each host all-gathers the result. Small buffers, the remainder that is not
 * divisible by the local world size, and hosts of different sizes use the leaders:
 * reduce, all-reduce, broadcast. A host of {@code L} ranks sends {@code 2 (H - 1) / H}
 * times the buffer to other hosts, by {@code L} ranks together or by one. Operands are
 * combined host by host.
 * <p>
 * N. Karonis et al.: Exploiting hierarchy in parallel computer networks to optimize
 * collective operation performance, IPDPS 2000.
 */
final class HierarchicalAllReduce implements Algorithm {

	/** Smaller calls are bound by latency, which is lower through the leaders. */
	private static final long MIN_PARTITIONED_BYTES = 64 << 10;

	private final Levels levels;

	private final Hosts hosts;

	private final ReductionKernels kernels;

	HierarchicalAllReduce(Hosts hosts, Levels levels, ReductionKernels kernels) {
		this.levels = levels;
		this.hosts = hosts;
		this.kernels = kernels;
	}

	@Override
	public void run(Call call) {
		long each = (this.hosts.even() && call.bytes() >= MIN_PARTITIONED_BYTES)
				? call.count() / this.levels.localSize() : 0;
		if (each > 0) {
			inParts(call, each);
		}
		long partitioned = each * this.levels.localSize();
		if (partitioned < call.count() || call.count() == 0) {
			throughLeaders(call, partitioned, call.count() - partitioned);
		}
	}

	private void inParts(Call call, long each) {
		long own = call.receiveAddress() + this.levels.place() * each * call.type().bytes();
		this.levels.reduceScatterWithin(call, each, call.sendAddress(), own);
		this.levels.allReduceAcross(call, each, own);
		this.kernels.finish(call.type(), call.op(), own, each, this.hosts.worldSize());
		this.levels.allGatherWithin(call, each, own, call.receiveAddress());
	}

	private void throughLeaders(Call call, long first, long count) {
		long offset = first * call.type().bytes();
		long target = call.receiveAddress() + offset;
		this.levels.reduceWithin(call, count, 0, call.sendAddress() + offset, target);
		if (this.levels.place() == 0) {
			this.levels.allReduceAcross(call, count, target);
			this.kernels.finish(call.type(), call.op(), target, count, this.hosts.worldSize());
		}
		this.levels.broadcastWithin(call, count, 0, target);
	}

}
