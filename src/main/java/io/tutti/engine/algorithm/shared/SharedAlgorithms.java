package io.tutti.engine.algorithm.shared;

import java.util.Arrays;
import java.util.List;

import io.tutti.Collective;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.Scratch;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.shm.CallSlots;
import io.tutti.engine.transport.shm.ShmTransport;
import org.jspecify.annotations.Nullable;

/**
 * Selects the shared-memory algorithm for a call. The selection depends only on the call
 * and the group, so all ranks select the same algorithm.
 */
public final class SharedAlgorithms {

	/** Operands are stored beside their fingerprints. */
	private static final String FLAT = "shared-flat";

	/** Operands are staged through the chunk pipeline, read, or accessed in place. */
	private static final String LARGE = "shared";

	private final int worldSize;

	private final ShmTransport transport;

	private final CallSlots slots;

	private final CopyChoices choices;

	/** For calls whose operands fit into the call slots, by ordinal. */
	private final Algorithm[] flat;

	/**
	 * For larger calls, by the ordinal of the collective; {@code null} where links are
	 * used.
	 */
	private final @Nullable Algorithm[] large = new Algorithm[Collective.values().length];

	/**
	 * Creates the algorithms of one group, all of whose ranks share the transport's
	 * memory.
	 * @param scratch working memory, which the caller owns
	 */
	public SharedAlgorithms(GroupIdentity identity, ShmTransport transport, ReductionKernels kernels, Scratch scratch) {
		int rank = identity.rank();
		this.worldSize = identity.worldSize();
		this.transport = transport;
		this.slots = transport.slots();
		this.choices = new CopyChoices(transport);
		FlatAlgorithms small = new FlatAlgorithms(rank, this.worldSize, this.slots, kernels);
		this.flat = Arrays.stream(Collective.values()).map(small::of).toArray(Algorithm[]::new);
		large(rank, Collective.ALL_REDUCE, new SharedAllReduce(rank, this.worldSize, transport, kernels));
		large(rank, Collective.REDUCE_SCATTER,
				new SharedReduction(rank, this.worldSize, transport, kernels, scratch, Collective.REDUCE_SCATTER));
		// The links of more ranks divide the reduction among them.
		if (this.worldSize == 2) {
			large(rank, Collective.REDUCE,
					new SharedReduction(rank, this.worldSize, transport, kernels, scratch, Collective.REDUCE));
		}
		for (Collective copying : List.of(Collective.ALL_GATHER, Collective.ALL_TO_ALL, Collective.GATHER,
				Collective.SCATTER)) {
			large(rank, copying, new SharedExchange(rank, this.worldSize, transport, copying));
		}
		this.large[Collective.BROADCAST.ordinal()] = new SharedBroadcast(rank, transport, this.choices);
	}

	private void large(int rank, Collective collective, LargeCollective work) {
		this.large[collective.ordinal()] = new LargeAlgorithm(work, rank, this.worldSize, this.transport, this.choices);
	}

	/**
	 * Returns the algorithm for a call and records its name in the call. Returns
	 * {@code null} if the call has to use links.
	 */
	public @Nullable Algorithm select(Call call) {
		if (call.uneven()) {
			return null;
		}
		boolean small = posted(call) <= this.slots.capacity();
		Algorithm selected = (small ? this.flat : this.large)[call.collective().ordinal()];
		if (selected != null) {
			call.algorithm(small ? FLAT : LARGE);
		}
		return selected;
	}

	/** Bytes of the largest operand that a rank would post. */
	private long posted(Call call) {
		return switch (call.collective()) {
			case ALL_REDUCE, REDUCE, BROADCAST, ALL_GATHER, GATHER, BARRIER, SCAN, EXCLUSIVE_SCAN -> call.bytes();
			case REDUCE_SCATTER, SCATTER, ALL_TO_ALL -> call.bytes() * this.worldSize;
		};
	}

}
