package io.tutti.engine.algorithm.hierarchical;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Which ranks of a group share a host. Hosts are numbered by their lowest rank, which
 * leads them; a rank's place is its index among those of its host. The same on every
 * rank.
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
	 * Puts the ranks of a group on their hosts.
	 * @param leaders by rank, the lowest rank of its host
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

	/** How many hosts there are. */
	public int count() {
		return this.ranks.size();
	}

	/** How many ranks there are. */
	int worldSize() {
		return this.hosts.length;
	}

	/** Number of a rank's host. */
	int host(int rank) {
		return this.hosts[rank];
	}

	/** A rank's index among those of its host. */
	int place(int rank) {
		return this.places[rank];
	}

	/** The ranks that share a rank's host, in ascending order, itself among them. */
	public List<Integer> around(int rank) {
		return this.ranks.get(host(rank));
	}

	/** Whether every host has as many ranks. */
	boolean even() {
		return this.even;
	}

	/** Whether ranks follow each other host by host. */
	boolean inOrder() {
		List<Integer> all = this.ranks.stream().flatMap(List::stream).toList();
		return all.equals(all.stream().sorted().toList());
	}

	/**
	 * The ranks, one of each host, among whom a rank works between hosts: those of its
	 * place where every host has one, the leaders otherwise. Without it, if it is no
	 * leader then.
	 */
	public List<Integer> across(int rank) {
		int place = this.even ? place(rank) : 0;
		return this.ranks.stream().map((host) -> host.get(place)).toList();
	}

}
