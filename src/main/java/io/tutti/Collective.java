package io.tutti;

/**
 * The operations that every rank of a group calls together.
 */
public enum Collective {

	/** Every rank gets the reduction of all ranks' buffers. */
	ALL_REDUCE("all-reduce"),
	/** The root gets the reduction of all ranks' buffers. */
	REDUCE("reduce"),
	/** Every rank gets the root's buffer. */
	BROADCAST("broadcast"),
	/** Every rank gets all ranks' buffers, in rank order. */
	ALL_GATHER("all-gather"),
	/** Every rank gets its own part of the reduction of all ranks' buffers. */
	REDUCE_SCATTER("reduce-scatter"),
	/** The root gets all ranks' buffers, in rank order. */
	GATHER("gather"),
	/** Every rank gets its own part of the root's buffer. */
	SCATTER("scatter"),
	/** Every rank gets, from each rank, the part meant for it. */
	ALL_TO_ALL("all-to-all"),
	/**
	 * Every rank gets the reduction of the buffers of the ranks up to and including it.
	 */
	SCAN("scan"),
	/**
	 * Every rank gets the reduction of the buffers of the ranks before it; rank 0's
	 * result is unchanged.
	 */
	EXCLUSIVE_SCAN("exclusive-scan"),
	/** No rank returns before every rank has called it. */
	BARRIER("barrier");

	private final String label;

	Collective(String label) {
		this.label = label;
	}

	/**
	 * The name in configuration and output, such as {@code all-reduce}.
	 * @return the name in configuration and output, such as {@code all-reduce}
	 */
	public String label() {
		return this.label;
	}

	/**
	 * Fraction of the whole buffer that the busiest connection carries, so that
	 * bandwidths are comparable between world sizes. Same definition as the bus bandwidth
	 * of nccl-tests.
	 * @param ranks how many ranks take part
	 * @return the fraction, 0 if no data is transferred
	 */
	public double busFactor(int ranks) {
		double others = (double) (ranks - 1) / ranks;
		return switch (this) {
			case ALL_REDUCE -> 2 * others;
			case ALL_GATHER, REDUCE_SCATTER, GATHER, SCATTER, ALL_TO_ALL -> others;
			case REDUCE, BROADCAST, SCAN, EXCLUSIVE_SCAN -> (ranks > 1) ? 1 : 0;
			case BARRIER -> 0;
		};
	}

	/**
	 * Whether it combines operands, so that it needs an operator.
	 * @return whether it combines operands, so that it needs an operator
	 */
	public boolean reduces() {
		return switch (this) {
			case ALL_REDUCE, REDUCE, REDUCE_SCATTER, SCAN, EXCLUSIVE_SCAN -> true;
			case BARRIER, BROADCAST, ALL_GATHER, GATHER, SCATTER, ALL_TO_ALL -> false;
		};
	}

	/**
	 * Whether it has a root rank.
	 * @return whether it has a root rank
	 */
	public boolean isRooted() {
		return switch (this) {
			case REDUCE, BROADCAST, GATHER, SCATTER -> true;
			case ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, SCAN, EXCLUSIVE_SCAN, BARRIER -> false;
		};
	}

	@Override
	public String toString() {
		return this.label;
	}

}
