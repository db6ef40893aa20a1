package io.tutti.engine.algorithm.hierarchical;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.spi.Call;

/**
 * Two-level broadcast: the buffer is sent to one rank of each host, which broadcasts it
 * there. Where all hosts have equally many ranks, that is the rank with the root's local
 * rank, otherwise the leader. In the second case a root that is not a leader broadcasts
 * on its own host first. Each host receives the buffer once.
 */
final class HierarchicalBroadcast implements Algorithm {

	private final Hosts hosts;

	private final Levels levels;

	HierarchicalBroadcast(Hosts hosts, Levels levels) {
		this.hosts = hosts;
		this.levels = levels;
	}

	@Override
	public void run(Call call) {
		int root = call.root();
		long address = call.receiveAddress();
		int rootLocalRank = this.hosts.place(root);
		int forwarder = this.hosts.even() ? rootLocalRank : 0;
		boolean rootHostFirst = forwarder != rootLocalRank;
		boolean onRootHost = this.levels.host() == this.hosts.host(root);
		if (rootHostFirst && onRootHost) {
			this.levels.broadcastWithin(call, call.count(), rootLocalRank, address);
		}
		if (this.levels.place() == forwarder) {
			this.levels.broadcastAcross(call, call.count(), this.hosts.host(root), address);
		}
		if (!(rootHostFirst && onRootHost)) {
			this.levels.broadcastWithin(call, call.count(), forwarder, address);
		}
	}

}
