package io.tutti.engine.algorithm;

import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.Link;
import io.tutti.engine.transport.Transport;

/**
 * What all algorithms of one group share. They also share working memory and cursors,
 * since only one runs at a time.
 *
 * @param identity the group
 * @param rank this rank of the group
 * @param worldSize number of ranks
 * @param transport links to the other ranks
 * @param kernels reductions
 * @param scratch working memory
 * @param chunks boundaries of the ranks' parts in the current call
 * @param exchange the current step of an algorithm with dependent steps
 */
record AlgorithmContext(GroupIdentity identity, int rank, int worldSize, Transport transport, ReductionKernels kernels,
		Scratch scratch, Chunks chunks, Exchange exchange) {

	static AlgorithmContext of(GroupIdentity identity, Transport transport, ReductionKernels kernels, Scratch scratch) {
		return new AlgorithmContext(identity, identity.rank(), identity.worldSize(), transport, kernels, scratch,
				new Chunks(identity.worldSize()), new Exchange(transport, kernels));
	}

	/** The rank at a distance of at most the world size ahead of this one. */
	int ahead(int distance) {
		return (this.rank + distance) % this.worldSize;
	}

	/** The rank at a distance of at most the world size behind this one. */
	int behind(int distance) {
		return Math.floorMod(this.rank - distance, this.worldSize);
	}

	Link link(int peer) {
		return this.transport.link(peer);
	}

	/** Combines elements with the call's type and operator. */
	void reduce(Call call, long target, long left, long right, long count) {
		this.kernels.reduce(call.type(), call.op(), target, left, right, count);
	}

	/** Completes elements for which the operands of all ranks are combined. */
	void finish(Call call, long target, long count) {
		this.kernels.finish(call.type(), call.op(), target, count, this.worldSize);
	}

}
