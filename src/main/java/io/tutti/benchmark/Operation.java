package io.tutti.benchmark;

import io.tutti.Collective;
import org.jspecify.annotations.Nullable;

/**
 * A measured operation: a collective, or messages between neighbours.
 */
public enum Operation {

	ALL_REDUCE(Collective.ALL_REDUCE), REDUCE(Collective.REDUCE), BROADCAST(Collective.BROADCAST),
	ALL_GATHER(Collective.ALL_GATHER), REDUCE_SCATTER(Collective.REDUCE_SCATTER), GATHER(Collective.GATHER),
	SCATTER(Collective.SCATTER), ALL_TO_ALL(Collective.ALL_TO_ALL), BARRIER(Collective.BARRIER),
	/**
	 * Each rank sends to the next rank and receives from the previous one at the same
	 * time.
	 */
	SEND_RECEIVE(null);

	private final @Nullable Collective collective;

	Operation(@Nullable Collective collective) {
		this.collective = collective;
	}

	/** The name in options and output. */
	public String label() {
		return (this.collective != null) ? this.collective.label() : "send-receive";
	}

	/** The name in TSV and JSON output, such as {@code allreduce}. */
	String tableName() {
		return label().replace("-", "");
	}

	/** Ratio of bus bandwidth to algorithm bandwidth, as defined by nccl-tests. */
	double busFactor(int ranks) {
		return (this.collective != null) ? this.collective.busFactor(ranks) : 1;
	}

	/** Whether it combines operands. */
	boolean reduces() {
		return this.collective != null && this.collective.reduces();
	}

	/** Whether it has a root, so that ranks can run ahead of each other. */
	boolean isRooted() {
		return this.collective != null && this.collective.isRooted();
	}

	@Override
	public String toString() {
		return label();
	}

}
