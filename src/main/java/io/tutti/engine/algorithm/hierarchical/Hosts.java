package io.tutti.engine.algorithm.hierarchical;

import java.util.List;
import java.util.stream.IntStream;

/**
 * The hosts of a group's ranks. Hosts are numbered by their lowest rank, the leader. A
 * rank's place is its local rank. Equal on every rank. Immutable.
 */
public final class Hosts {

	private final List<List<Integer>> ranks;

	private final int[] hosts;

	private final int[] places;

	private final boolean even;

	private Hosts(List<List<Integer>> ranks, int worldSize) {
		this.ranks = ranks;
		this.hosts = new int[worldSize];
		this.places = new int[worldSize];
		for (int host = 0; host < ranks.size(); host++) {
			for (int place = 0; place < ranks.get(host).size(); place++) {
				this.hosts[ranks.get(host).get(place)] = host;
				this.places[ranks.get(host).get(place)] = place;
			}
		}
		this.even = ranks.stream().map(List::size).distinct().count() == 1;
	}

	/**
	 * Groups ranks by host.
	 * @param leaders for each rank, the lowest rank of its host
	 */
	public static Hosts of(List<Integer> leaders) {
		return new Hosts(leaders.stream()
			.distinct()
			.sorted()
			.map((leader) -> IntStream.range(0, leaders.size())
				.filter((rank) -> leaders.get(rank).equals(leader))
				.boxed()
				.toList())
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
	int place(int rank) {
		return this.places[rank];
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
		List<Integer> all = this.ranks.stream().flatMap(List::stream).toList();
		return all.equals(all.stream().sorted().toList());
	}

	/**
	 * The ranks, one per host, that a rank works with between hosts: those with its local
	 * rank if all hosts have the same number of ranks, otherwise the leaders, which may
	 * not include the rank itself.
	 */
	public List<Integer> across(int rank) {
		int place = this.even ? place(rank) : 0;
		return this.ranks.stream().map((host) -> host.get(place)).toList();
	}

}
