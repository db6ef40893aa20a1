package io.tutti.engine.algorithm.hierarchical;

import io.tutti.Collective;
import io.tutti.engine.spi.Call;

/**
 * The two levels of a group from one rank's view, and the partial calls that run on them.
 * Call objects are reused, so a call allocates nothing.
 */
final class Levels {

	private final Level within;

	private final Level across;

	private final Call inner;

	private final Call outer;

	private final int localRank;

	private final int host;

	private final int localSize;

	/**
	 * @param within the ranks of this host
	 * @param across the ranks of {@link Hosts#across}; not used if this rank is not one
	 * of them
	 */
	Levels(Hosts hosts, int rank, Level within, Level across) {
		this.within = within;
		this.across = across;
		this.localRank = hosts.localRank(rank);
		this.host = hosts.host(rank);
		this.localSize = hosts.around(rank).size();
		this.inner = Call.forParts(this.localSize);
		this.outer = Call.forParts(hosts.count());
	}

	/** This rank's local rank. */
	int localRank() {
		return this.localRank;
	}

	int host() {
		return this.host;
	}

	int localSize() {
		return this.localSize;
	}

	void barrierWithin(Call call) {
		this.within.run(this.inner.partOf(call, Collective.BARRIER, 0, 0));
	}

	void barrierAcross(Call call) {
		this.across.run(this.outer.partOf(call, Collective.BARRIER, 0, 0));
	}

	/** Reduces to a local rank; only that rank writes the target. */
	void reduceWithin(Call call, long count, int localRank, long source, long target) {
		long bytes = count * call.type().bytes();
		this.within.run(this.inner.partOf(call, Collective.REDUCE, count, localRank)
			.from(source, bytes)
			.into(target, (localRank == this.localRank) ? bytes : 0));
	}

	/** Reduces to a host; only that host's rank writes the target. */
	void reduceAcross(Call call, long count, int host, long source, long target) {
		long bytes = count * call.type().bytes();
		this.across.run(this.outer.partOf(call, Collective.REDUCE, count, host)
			.from(source, bytes)
			.into(target, (host == this.host) ? bytes : 0));
	}

	void broadcastWithin(Call call, long count, int localRank, long address) {
		long bytes = count * call.type().bytes();
		this.within.run(this.inner.partOf(call, Collective.BROADCAST, count, localRank)
			.from(address, bytes)
			.into(address, bytes));
	}

	void broadcastAcross(Call call, long count, int host, long address) {
		long bytes = count * call.type().bytes();
		this.across
			.run(this.outer.partOf(call, Collective.BROADCAST, count, host).from(address, bytes).into(address, bytes));
	}

	void allReduceAcross(Call call, long count, long address) {
		long bytes = count * call.type().bytes();
		this.across
			.run(this.outer.partOf(call, Collective.ALL_REDUCE, count, 0).from(address, bytes).into(address, bytes));
	}

	/** Reduces, and leaves each rank of the host its part of {@code count} elements. */
	void reduceScatterWithin(Call call, long count, long source, long target) {
		long bytes = count * call.type().bytes();
		this.within.run(this.inner.partOf(call, Collective.REDUCE_SCATTER, count, 0)
			.from(source, bytes * this.localSize)
			.into(target, bytes));
	}

	/**
	 * Gathers the parts of this host's ranks, {@code count} elements each, on all of
	 * them.
	 */
	void allGatherWithin(Call call, long count, long source, long target) {
		long bytes = count * call.type().bytes();
		this.within.run(this.inner.partOf(call, Collective.ALL_GATHER, count, 0)
			.from(source, bytes)
			.into(target, bytes * this.localSize));
	}

	/**
	 * Gathers the parts of this host's ranks, {@code count} elements each, on the leader.
	 */
	void gatherWithin(Call call, long count, long source, long target) {
		long bytes = count * call.type().bytes();
		this.within.run(this.inner.partOf(call, Collective.GATHER, count, 0)
			.from(source, bytes)
			.into(target, (this.localRank == 0) ? bytes * this.localSize : 0));
	}

	/** Gathers the parts of the hosts, {@code count} elements each, on all of them. */
	void allGatherAcross(Call call, long count, int hosts, long source, long target) {
		long bytes = count * call.type().bytes();
		this.across.run(this.outer.partOf(call, Collective.ALL_GATHER, count, 0)
			.from(source, bytes)
			.into(target, bytes * hosts));
	}

}
