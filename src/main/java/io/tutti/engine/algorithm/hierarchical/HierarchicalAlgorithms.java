package io.tutti.engine.algorithm.hierarchical;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.Scratch;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import org.jspecify.annotations.Nullable;

/**
 * Two-level algorithms for a group on several hosts, and which calls use them. The
 * selection depends only on the call and the hosts, so all ranks make the same one.
 * {@code H} is the number of hosts and {@code L} the number of ranks of a host. Operands
 * are combined host by host.
 * <p>
 * N. Karonis et al.: Exploiting hierarchy in parallel computer networks to optimize
 * collective operation performance, IPDPS 2000.
 */
public final class HierarchicalAlgorithms implements AutoCloseable {

	/** Smaller calls are bound by latency, which is lower through the leaders. */
	private static final long MIN_PARTITIONED_BYTES = 64 << 10;

	private final Hosts hosts;

	private final int rank;

	private final Levels levels;

	private final ReductionKernels kernels;

	private final Scratch scratch;

	private final Algorithm barrier = this::barrier;

	private final Algorithm allReduce = this::allReduce;

	private final Algorithm broadcast = this::broadcast;

	private final Algorithm reduce = this::reduce;

	private final Algorithm allGather = this::allGather;

	/**
	 * Creates the algorithms of one group.
	 * @param within runs collectives among this host's ranks
	 * @param across runs collectives among the ranks of {@link Hosts#across}; not used if
	 * this rank is not one of them
	 */
	public HierarchicalAlgorithms(Hosts hosts, int rank, Level within, Level across, ReductionKernels kernels) {
		this.hosts = hosts;
		this.rank = rank;
		this.levels = new Levels(hosts, rank, within, across);
		this.kernels = kernels;
		this.scratch = new Scratch(hosts.worldSize());
	}

	/** Returns the algorithm for a call, or {@code null} if the call uses one level. */
	public @Nullable Algorithm select(Call call) {
		if (call.uneven()) {
			return null;
		}
		return switch (call.collective()) {
			case BARRIER -> this.barrier;
			case ALL_REDUCE -> this.allReduce;
			case BROADCAST -> this.broadcast;
			case REDUCE -> reaches(call.root()) ? this.reduce : null;
			case ALL_GATHER -> (this.hosts.even() && this.hosts.inOrder()) ? this.allGather : null;
			case REDUCE_SCATTER, GATHER, SCATTER, ALL_TO_ALL, SCAN, EXCLUSIVE_SCAN -> null;
		};
	}

	/**
	 * A barrier within each host, one between leaders, and a second one within each host,
	 * which releases its ranks. Takes {@code log2 H} steps between hosts.
	 */
	private void barrier(Call call) {
		this.levels.barrierWithin(call);
		if (this.levels.localRank() == 0) {
			this.levels.barrierAcross(call);
		}
		this.levels.barrierWithin(call);
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
		long each = (this.hosts.even() && call.bytes() >= MIN_PARTITIONED_BYTES)
				? call.count() / this.levels.localSize() : 0;
		if (each > 0) {
			allReduceInParts(call, each);
		}
		long partitioned = each * this.levels.localSize();
		if (partitioned < call.count() || call.count() == 0) {
			allReduceThroughLeaders(call, partitioned, call.count() - partitioned);
		}
	}

	private void allReduceInParts(Call call, long each) {
		long own = call.receiveAddress() + this.levels.localRank() * each * call.type().bytes();
		this.levels.reduceScatterWithin(call, each, call.sendAddress(), own);
		this.levels.allReduceAcross(call, each, own);
		this.kernels.finish(call.type(), call.op(), own, each, this.hosts.worldSize());
		this.levels.allGatherWithin(call, each, own, call.receiveAddress());
	}

	private void allReduceThroughLeaders(Call call, long first, long count) {
		long offset = first * call.type().bytes();
		long target = call.receiveAddress() + offset;
		this.levels.reduceWithin(call, count, 0, call.sendAddress() + offset, target);
		if (this.levels.localRank() == 0) {
			this.levels.allReduceAcross(call, count, target);
			this.kernels.finish(call.type(), call.op(), target, count, this.hosts.worldSize());
		}
		this.levels.broadcastWithin(call, count, 0, target);
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
		boolean onRootHost = this.levels.host() == this.hosts.host(root);
		if (rootHostFirst && onRootHost) {
			this.levels.broadcastWithin(call, call.count(), rootLocalRank, address);
		}
		if (this.levels.localRank() == forwarder) {
			this.levels.broadcastAcross(call, call.count(), this.hosts.host(root), address);
		}
		if (!(rootHostFirst && onRootHost)) {
			this.levels.broadcastWithin(call, call.count(), forwarder, address);
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
		this.levels.reduceWithin(call, count, localRoot, call.sendAddress() + offset, target);
		if (this.levels.localRank() == localRoot) {
			this.levels.reduceAcross(call, count, this.hosts.host(call.root()), target, target);
		}
	}

	/**
	 * For ranks in order host by host. The leader of each host gathers its ranks' parts,
	 * the leaders all-gather the results, and each leader broadcasts the whole buffer on
	 * its host. A host sends its own ranks' parts to {@code H - 1} others.
	 */
	private void allGather(Call call) {
		int localSize = this.levels.localSize();
		long hostCount = call.count() * localSize;
		long own = call.receiveAddress() + this.levels.host() * call.bytes() * localSize;
		this.levels.gatherWithin(call, call.count(), call.sendAddress(), own);
		if (this.levels.localRank() == 0) {
			this.levels.allGatherAcross(call, hostCount, this.hosts.count(), own, call.receiveAddress());
		}
		this.levels.broadcastWithin(call, hostCount * this.hosts.count(), 0, call.receiveAddress());
	}

	@Override
	public void close() {
		this.scratch.close();
	}

}
