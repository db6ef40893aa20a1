package io.tutti.engine.algorithm.hierarchical;

import io.tutti.engine.Call;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.Scratch;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import org.jspecify.annotations.Nullable;

/**
 * Chooses which calls of a group on several hosts are carried out on two levels. The
 * choice depends on nothing but the call and the hosts, so that all ranks choose alike.
 */
public final class HierarchicalAlgorithms implements AutoCloseable {

	private final Scratch scratch;

	private final HierarchicalBarrier barrier;

	private final HierarchicalAllReduce allReduce;

	private final HierarchicalBroadcast broadcast;

	private final HierarchicalReduce reduce;

	private final @Nullable HierarchicalAllGather allGather;

	/**
	 * The algorithms of one group.
	 * @param within carries out what this host's ranks do among themselves
	 * @param across carries out what is done among the ranks of {@link Hosts#across}; not
	 * used if this rank is not among them
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

	/** The way for a call, or {@code null} if one level does it better. */
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
			case REDUCE_SCATTER, GATHER, SCATTER, ALL_TO_ALL -> null;
		};
	}

	@Override
	public void close() {
		this.scratch.close();
	}

}
