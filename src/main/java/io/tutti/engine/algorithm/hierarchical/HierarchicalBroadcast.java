package io.tutti.engine.algorithm.hierarchical;

import io.tutti.engine.Call;
import io.tutti.engine.algorithm.Algorithm;

/**
 * Broadcast on two levels: to one rank of each host, which gives it to the others there.
 * Where every host has a rank of the root's place, that is the one; otherwise the root's
 * host has it first, and its leader passes it on to the other leaders. The buffer goes to
 * each host once.
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
		int rootPlace = this.hosts.place(root);
		int bridge = this.hosts.even() ? rootPlace : 0;
		boolean homeFirst = bridge != rootPlace;
		boolean home = this.levels.host() == this.hosts.host(root);
		if (homeFirst && home) {
			this.levels.broadcastWithin(call, call.count(), rootPlace, address);
		}
		if (this.levels.place() == bridge) {
			this.levels.broadcastAcross(call, call.count(), this.hosts.host(root), address);
		}
		if (!(homeFirst && home)) {
			this.levels.broadcastWithin(call, call.count(), bridge, address);
		}
	}

}
