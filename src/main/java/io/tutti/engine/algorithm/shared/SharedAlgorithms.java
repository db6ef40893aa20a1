package io.tutti.engine.algorithm.shared;

import io.tutti.engine.Call;
import io.tutti.engine.GroupIdentity;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.transport.shm.ShmTransport;
import org.jspecify.annotations.Nullable;

/**
 * Chooses how ranks that share memory carry a call out in place. The choice depends on
 * nothing but the call and the group, so that all ranks choose alike.
 */
public final class SharedAlgorithms {

	private final long flatBytes;

	private final Algorithm flatAllReduce;

	private final Algorithm stagedAllReduce;

	private final Algorithm flatBroadcast;

	private final Algorithm stagedBroadcast;

	private final Algorithm flatAllGather;

	private final Algorithm stagedAllGather;

	private final Algorithm barrier;

	/** The algorithms of one group, all of whose ranks share the transport's memory. */
	public SharedAlgorithms(GroupIdentity identity, ShmTransport transport, ReductionKernels kernels) {
		int rank = identity.rank();
		int worldSize = identity.worldSize();
		this.flatBytes = transport.board().capacity();
		this.flatAllReduce = new FlatAllReduce(worldSize, transport.board(), kernels);
		this.stagedAllReduce = new StagedAllReduce(rank, worldSize, transport, kernels);
		this.flatBroadcast = new FlatBroadcast(rank, transport.board());
		this.stagedBroadcast = new StagedBroadcast(rank, transport);
		this.flatAllGather = new FlatAllGather(worldSize, transport.board());
		this.stagedAllGather = new StagedAllGather(rank, worldSize, transport);
		this.barrier = new FlatBarrier(transport.board());
	}

	/** The way for a call, or {@code null} if it has to go over links. */
	public @Nullable Algorithm select(Call call) {
		boolean flat = call.bytes() <= this.flatBytes;
		return switch (call.collective()) {
			case ALL_REDUCE -> flat ? this.flatAllReduce : this.stagedAllReduce;
			case BROADCAST -> flat ? this.flatBroadcast : this.stagedBroadcast;
			case ALL_GATHER -> flat ? this.flatAllGather : this.stagedAllGather;
			case BARRIER -> this.barrier;
		};
	}

}
