package io.tutti.engine.algorithm.hierarchical;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.Scratch;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import org.jspecify.annotations.Nullable;

/**
 * Selects the calls of a group on several hosts that use two levels. The selection
 * depends only on the call and the hosts, so all ranks make the same one.
 */
public final class HierarchicalAlgorithms implements AutoCloseable {

	private final Scratch scratch;

	private final HierarchicalBarrier barrier;

	private final HierarchicalAllReduce allReduce;

	private final HierarchicalBroadcast broadcast;

	private final HierarchicalReduce reduce;

	private final @Nullable HierarchicalAllGather allGather;

	/**
	 * Creates the algorithms of one group.
	 * @param within runs collectives among this host's ranks
	 * @param across runs collectives among the ranks of {@link Hosts#across}; not used if
	 * this rank is not one of them
	 */
	public HierarchicalAlgorithms(Hosts hosts, int rank, Level within, Level across, ReductionKernels kernels) {
		Levels levels = new Levels(hosts, rank, within, across);
		this.scratch = new Scratch(hosts.worldSize());
		this.barrier = new HierarchicalBarrier(levels);
		this.allReduce = new HierarchicalAllReduce(hosts, levels, kernels);
		this.broadcast = new HierarchicalBroadcast(hosts, levels);
		this.reduce = new HierarchicalReduce(hosts, levels, rank, kernels, this.scratch);
		this.allGather = (hosts.even() && hosts.inOrder()) ? new HierarchicalAllGather(levels, hosts.count()) : null;
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
			case REDUCE -> this.reduce.reaches(call.root()) ? this.reduce : null;
			case ALL_GATHER -> this.allGather;
			case REDUCE_SCATTER, GATHER, SCATTER, ALL_TO_ALL, SCAN, EXCLUSIVE_SCAN -> null;
		};
	}

	@Override
	public void close() {
		this.scratch.close();
	}

}
