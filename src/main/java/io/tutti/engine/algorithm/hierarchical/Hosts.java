package io.tutti.engine.algorithm.hierarchical;

import java.util.List;

import io.tutti.engine.spi.GroupIdentity;

/**
 * The hosts of a group's ranks. Hosts are numbered by their lowest rank, the leader.
 * Equal on every rank. Immutable.
 */
public final class Hosts {

	private final List<List<Integer>> ranks;

	private final int[] hosts;

	private final int[] localRanks;

	private final boolean even;

	private final boolean inOrder;

	private Hosts(List<List<Integer>> ranks, int worldSize) {
		this.ranks = ranks;
		this.hosts = new int[worldSize];
		this.localRanks = new int[worldSize];
		for (int host = 0; host < ranks.size(); host++) {
			for (int localRank = 0; localRank < ranks.get(host).size(); localRank++) {
				this.hosts[ranks.get(host).get(localRank)] = host;
				this.localRanks[ranks.get(host).get(localRank)] = localRank;
			}
		}
		this.even = ranks.stream().map(List::size).distinct().count() == 1;
		List<Integer> all = ranks.stream().flatMap(List::stream).toList();
		this.inOrder = all.equals(all.stream().sorted().toList());
	}

	/**
	 * Groups ranks by host.
	 * @param leaders for each rank, the lowest rank of its host
	 */
	public static Hosts of(List<Integer> leaders) {
		return new Hosts(leaders.stream()
			.distinct()
			.sorted()
			.map((leader) -> GroupIdentity.ranksWhere(leaders.size(), (rank) -> leaders.get(rank).equals(leader)))
			.toList(), leaders.size());
	}

	/** Number of hosts. */
	public int count() {
		return this.ranks.size();
	}

	int worldSize() {
		return this.hosts.length;
	}

	int host(int rank) {
		return this.hosts[rank];
	}

	/** A rank's local rank. */
	int localRank(int rank) {
		return this.localRanks[rank];
	}

	/** The ranks on the host of a rank, including itself, in ascending order. */
	public List<Integer> around(int rank) {
		return this.ranks.get(host(rank));
	}

	/** Whether all hosts have the same number of ranks. */
	boolean even() {
		return this.even;
	}

	/** Whether ranks are in order host by host. */
	boolean inOrder() {
		return this.inOrder;
	}

	/**
	 * The ranks, one per host, that a rank works with between hosts: those with its local
	 * rank if all hosts have the same number of ranks, otherwise the leaders, which may
	 * not include the rank itself.
	 */
	public List<Integer> across(int rank) {
		int localRank = this.even ? localRank(rank) : 0;
		return this.ranks.stream().map((host) -> host.get(localRank)).toList();
	}

}
