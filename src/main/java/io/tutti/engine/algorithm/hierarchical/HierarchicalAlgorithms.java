package io.tutti.engine.algorithm.hierarchical;

import io.tutti.Collective;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.Scratch;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;

/**
 * Two-level algorithms for a group on several hosts, and which calls use them. The
 * selection depends only on the call and the hosts, so all ranks make the same one.
 * {@code H} is the number of hosts and {@code L} the number of ranks of a host. Operands
 * are combined host by host.
 * <p>
 * N. Karonis et al.: Exploiting hierarchy in parallel computer networks to optimize
 * collective operation performance, IPDPS 2000.
 */
public final class HierarchicalAlgorithms implements Algorithm, AutoCloseable {

	/** Smaller calls are bound by latency, which is lower through the leaders. */
	private static final long MIN_PARTITIONED_BYTES = 64 << 10;

	/** A level of one rank: every collective copies the operand to the result. */
	public static final Algorithm ALONE = (part) -> {
		if (part.sendAddress() != part.receiveAddress()) {
			NativeMemory.copy(part.sendAddress(), part.receiveAddress(), part.receiveBytes());
		}
	};

	private final Hosts hosts;

	private final int rank;

	/** The ranks of this host. */
	private final LevelCollectives within;

	/** The ranks of {@link Hosts#across}; not used if this rank is not one of them. */
	private final LevelCollectives across;

	private final ReductionKernels kernels;

	private final Scratch scratch;

	/**
	 * Creates the algorithms of one group.
	 * @param within runs collectives among this host's ranks
	 * @param across runs collectives among the ranks of {@link Hosts#across}; not used if
	 * this rank is not one of them
	 */
	public HierarchicalAlgorithms(Hosts hosts, int rank, Algorithm within, Algorithm across, ReductionKernels kernels) {
		this.hosts = hosts;
		this.rank = rank;
		this.within = new LevelCollectives(within, hosts.around(rank).size(), hosts.localRank(rank));
		this.across = new LevelCollectives(across, hosts.count(), hosts.host(rank));
		this.kernels = kernels;
		this.scratch = new Scratch(hosts.worldSize());
	}

	/** Whether a call uses two levels. */
	public boolean supports(Call call) {
		return !call.uneven() && switch (call.collective()) {
			case BARRIER, ALL_REDUCE, BROADCAST -> true;
			case REDUCE -> reaches(call.root());
			case ALL_GATHER -> this.hosts.even() && this.hosts.inOrder();
			case REDUCE_SCATTER, GATHER, SCATTER, ALL_TO_ALL, SCAN, EXCLUSIVE_SCAN -> false;
		};
	}

	/** Runs a call that is {@linkplain #supports supported}. */
	@Override
	public void run(Call call) {
		switch (call.collective()) {
			case BARRIER -> barrier(call);
			case ALL_REDUCE -> allReduce(call);
			case BROADCAST -> broadcast(call);
			case REDUCE -> reduce(call);
			case ALL_GATHER -> allGather(call);
			case REDUCE_SCATTER, GATHER, SCATTER, ALL_TO_ALL, SCAN, EXCLUSIVE_SCAN ->
				throw new IllegalArgumentException("no two-level algorithm for " + call);
		}
	}

	/**
	 * A barrier within each host, one between leaders, and a second one within each host,
	 * which releases its ranks. Takes {@code log2 H} steps between hosts.
	 */
	private void barrier(Call call) {
		this.within.barrier(call);
		if (this.within.leads()) {
			this.across.barrier(call);
		}
		this.within.barrier(call);
	}

	/**
	 * A large buffer is reduce-scattered within each host; ranks with the same local rank
	 * all-reduce their parts between hosts, all local ranks concurrently; and each host
	 * all-gathers the result. Small buffers, the remainder that is not divisible by the
	 * local world size, and hosts of different sizes use the leaders. A host sends
	 * {@code 2 (H - 1) / H} times the buffer to other hosts, by {@code L} ranks together
	 * or by one.
	 */
	private void allReduce(Call call) {
		long each = (this.hosts.even() && call.bytes() >= MIN_PARTITIONED_BYTES) ? call.count() / this.within.size()
				: 0;
		if (each > 0) {
			allReduceInParts(call, each);
		}
		long partitioned = each * this.within.size();
		if (partitioned < call.count() || call.count() == 0) {
			allReduceThroughLeaders(call, partitioned, call.count() - partitioned);
		}
	}

	private void allReduceInParts(Call call, long each) {
		long own = call.receiveAddress() + this.within.self() * each * call.type().bytes();
		this.within.run(Collective.REDUCE_SCATTER, call, each, call.sendAddress(), own);
		this.across.run(Collective.ALL_REDUCE, call, each, own, own);
		this.kernels.finish(call.type(), call.op(), own, each, this.hosts.worldSize());
		this.within.run(Collective.ALL_GATHER, call, each, own, call.receiveAddress());
	}

	private void allReduceThroughLeaders(Call call, long first, long count) {
		long offset = first * call.type().bytes();
		long target = call.receiveAddress() + offset;
		this.within.run(Collective.REDUCE, call, count, call.sendAddress() + offset, target);
		if (this.within.leads()) {
			this.across.run(Collective.ALL_REDUCE, call, count, target, target);
			this.kernels.finish(call.type(), call.op(), target, count, this.hosts.worldSize());
		}
		this.within.run(Collective.BROADCAST, call, count, target, target);
	}

	/**
	 * The buffer is sent to one rank of each host, which broadcasts it there. Where all
	 * hosts have equally many ranks, that is the rank with the root's local rank,
	 * otherwise the leader. In the second case a root that is not a leader broadcasts on
	 * its own host first. Each host receives the buffer once.
	 */
	private void broadcast(Call call) {
		int root = call.root();
		long address = call.receiveAddress();
		int rootLocalRank = this.hosts.localRank(root);
		int forwarder = this.hosts.even() ? rootLocalRank : 0;
		boolean rootHostFirst = forwarder != rootLocalRank;
		boolean onRootHost = this.across.self() == this.hosts.host(root);
		if (rootHostFirst && onRootHost) {
			this.within.run(Collective.BROADCAST, call, call.count(), rootLocalRank, address, address);
		}
		if (this.within.self() == forwarder) {
			this.across.run(Collective.BROADCAST, call, call.count(), this.hosts.host(root), address, address);
		}
		if (!(rootHostFirst && onRootHost)) {
			this.within.run(Collective.BROADCAST, call, call.count(), forwarder, address, address);
		}
	}

	/**
	 * Whether every host has a rank with the root's local rank that takes part between
	 * hosts.
	 */
	private boolean reaches(int root) {
		return this.hosts.even() || this.hosts.localRank(root) == 0;
	}

	/**
	 * Reduces on each host to the rank with the root's local rank, and from those ranks
	 * to the root. Ranks other than the root hold one segment at a time. Each host sends
	 * the buffer once.
	 */
	private void reduce(Call call) {
		boolean root = call.root() == this.rank;
		long segmentCount = this.scratch.bytes() / call.type().bytes();
		long done = 0;
		do {
			long count = Math.min(segmentCount, call.count() - done);
			long offset = done * call.type().bytes();
			reduceSegment(call, count, offset, root ? call.receiveAddress() + offset : this.scratch.address());
			done += count;
		}
		while (done < call.count());
		if (root) {
			this.kernels.finish(call.type(), call.op(), call.receiveAddress(), call.count(), this.hosts.worldSize());
		}
	}

	private void reduceSegment(Call call, long count, long offset, long target) {
		int localRoot = this.hosts.localRank(call.root());
		this.within.run(Collective.REDUCE, call, count, localRoot, call.sendAddress() + offset, target);
		if (this.within.self() == localRoot) {
			this.across.run(Collective.REDUCE, call, count, this.hosts.host(call.root()), target, target);
		}
	}

	/**
	 * For ranks in order host by host. The leader of each host gathers its ranks' parts,
	 * the leaders all-gather the results, and each leader broadcasts the whole buffer on
	 * its host. A host sends its own ranks' parts to {@code H - 1} others.
	 */
	private void allGather(Call call) {
		int localSize = this.within.size();
		long hostCount = call.count() * localSize;
		long own = call.receiveAddress() + this.across.self() * call.bytes() * localSize;
		this.within.run(Collective.GATHER, call, call.count(), call.sendAddress(), own);
		if (this.within.leads()) {
			this.across.run(Collective.ALL_GATHER, call, hostCount, own, call.receiveAddress());
		}
		this.within.run(Collective.BROADCAST, call, hostCount * this.hosts.count(), call.receiveAddress(),
				call.receiveAddress());
	}

	@Override
	public void close() {
		this.scratch.close();
	}

}
