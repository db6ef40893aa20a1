package io.tutti.engine.algorithm.hierarchical;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.spi.Call;

/**
 * Two-level all-gather, for ranks in order host by host. The leader of each host gathers
 * its ranks' parts, the leaders all-gather the results, and each leader broadcasts the
 * whole buffer on its host. A host sends its own ranks' parts to {@code H - 1} others.
 */
final class HierarchicalAllGather implements Algorithm {

	private final Levels levels;

	private final int hosts;

	HierarchicalAllGather(Levels levels, int hosts) {
		this.levels = levels;
		this.hosts = hosts;
	}

	@Override
	public void run(Call call) {
		int localSize = this.levels.localSize();
		long hostCount = call.count() * localSize;
		long own = call.receiveAddress() + this.levels.host() * call.bytes() * localSize;
		this.levels.gatherWithin(call, call.count(), call.sendAddress(), own);
		if (this.levels.place() == 0) {
			this.levels.allGatherAcross(call, hostCount, this.hosts, own, call.receiveAddress());
		}
		this.levels.broadcastWithin(call, hostCount * this.hosts, 0, call.receiveAddress());
	}

}
