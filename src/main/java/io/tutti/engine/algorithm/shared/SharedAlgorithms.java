package io.tutti.engine.algorithm.shared;

import io.tutti.engine.Call;
import io.tutti.engine.Collective;
import io.tutti.engine.GroupIdentity;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.transport.shm.CallSlots;
import io.tutti.engine.transport.shm.ShmTransport;
import org.jspecify.annotations.Nullable;

/**
 * Chooses how ranks that share memory carry a call out in place. The choice depends on
 * nothing but the call and the group, so that all ranks choose alike.
 */
public final class SharedAlgorithms {

	/** Operands lie beside their fingerprints. */
	private static final String FLAT = "shared-flat";

	/** Operands are passed through memory, or reduced where they lie. */
	private static final String LARGE = "shared";

	private final int rank;

	private final int worldSize;

	private final ShmTransport transport;

	private final CallSlots board;

	private final ReductionKernels kernels;

	/**
	 * For what all ranks post together small enough, by the ordinal of the collective.
	 */
	private final Algorithm[] flat;

	/** For more, {@code null} where links do it. */
	private final @Nullable Algorithm[] large;

	/** The algorithms of one group, all of whose ranks share the transport's memory. */
	public SharedAlgorithms(GroupIdentity identity, ShmTransport transport, ReductionKernels kernels) {
		this.rank = identity.rank();
		this.worldSize = identity.worldSize();
		this.transport = transport;
		this.board = transport.board();
		this.kernels = kernels;
		Collective[] collectives = Collective.values();
		this.flat = new Algorithm[collectives.length];
		this.large = new Algorithm[collectives.length];
		for (Collective collective : collectives) {
			this.flat[collective.ordinal()] = flat(collective);
			this.large[collective.ordinal()] = large(collective);
		}
	}

	private Algorithm flat(Collective collective) {
		return switch (collective) {
			case ALL_REDUCE -> new FlatAllReduce(this.worldSize, this.board, this.kernels);
			case REDUCE -> new FlatReduce(this.rank, this.worldSize, this.board, this.kernels);
			case BROADCAST -> new FlatBroadcast(this.rank, this.board);
			case ALL_GATHER -> new FlatAllGather(this.worldSize, this.board);
			case REDUCE_SCATTER -> new FlatReduceScatter(this.rank, this.worldSize, this.board, this.kernels);
			case GATHER -> new FlatGather(this.rank, this.worldSize, this.board);
			case SCATTER -> new FlatScatter(this.rank, this.worldSize, this.board);
			case ALL_TO_ALL -> new FlatAllToAll(this.rank, this.worldSize, this.board);
			case BARRIER -> new FlatBarrier(this.board);
		};
	}

	private @Nullable Algorithm large(Collective collective) {
		return switch (collective) {
			case ALL_REDUCE -> new SharedAllReduce(this.rank, this.worldSize, this.transport, this.kernels);
			case BROADCAST -> new SharedBroadcast(this.rank, this.transport);
			case ALL_GATHER -> new SharedAllGather(this.rank, this.worldSize, this.transport);
			case REDUCE_SCATTER -> new SharedReduceScatter(this.rank, this.worldSize, this.transport, this.kernels);
			case ALL_TO_ALL -> new SharedAllToAll(this.rank, this.worldSize, this.transport);
			case REDUCE, GATHER, SCATTER, BARRIER -> null;
		};
	}

	/**
	 * The way for a call, which is told it, or {@code null} if it has to go over links.
	 */
	public @Nullable Algorithm select(Call call) {
		if (call.uneven()) {
			return null;
		}
		int collective = call.collective().ordinal();
		boolean small = posted(call) <= this.board.capacity();
		call.by(small ? FLAT : LARGE);
		return small ? this.flat[collective] : this.large[collective];
	}

	/** Bytes of the largest operand that a rank would post. */
	private long posted(Call call) {
		return switch (call.collective()) {
			case ALL_REDUCE, REDUCE, BROADCAST, ALL_GATHER, GATHER, BARRIER -> call.bytes();
			case REDUCE_SCATTER, SCATTER, ALL_TO_ALL -> call.bytes() * this.worldSize;
		};
	}

}
