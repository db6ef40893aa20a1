package io.tutti.engine.algorithm;

import io.tutti.engine.Call;
import io.tutti.engine.GroupIdentity;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.transport.Transport;

/**
 * Chooses the algorithm for a call. The choice depends on nothing but the call and the
 * group, so that all ranks choose alike.
 */
public final class AlgorithmSelector {

	private final Algorithm allReduce;

	private final Algorithm allGather;

	private final Algorithm broadcast;

	private final Algorithm barrier;

	/** The algorithms of one group. */
	public AlgorithmSelector(GroupIdentity identity, Transport transport, ReductionKernels kernels) {
		int rank = identity.rank();
		int worldSize = identity.worldSize();
		RingPass ring = new RingPass(rank, worldSize, transport, kernels);
		this.allReduce = new RingAllReduce(ring, worldSize);
		this.allGather = new RingAllGather(ring, rank, worldSize);
		this.broadcast = new BinomialBroadcast(rank, worldSize, transport);
		this.barrier = new DisseminationBarrier(rank, worldSize, transport);
	}

	/** The algorithm for a call. */
	public Algorithm select(Call call) {
		return switch (call.collective()) {
			case ALL_REDUCE -> this.allReduce;
			case ALL_GATHER -> this.allGather;
			case BROADCAST -> this.broadcast;
			case BARRIER -> this.barrier;
		};
	}

}
