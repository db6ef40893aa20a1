package io.tutti.engine.algorithm;

import io.tutti.Collective;

/**
 * Creates the algorithms of one group.
 */
final class AlgorithmFactory {

	private final AlgorithmContext context;

	private final RingAllReduce ring;

	private final RecursiveDoubling doubling;

	AlgorithmFactory(AlgorithmContext context) {
		this.context = context;
		this.ring = new RingAllReduce(context);
		this.doubling = new RecursiveDoubling(context);
	}

	/**
	 * Creates an algorithm.
	 * @throws IllegalArgumentException if it is not {@linkplain AlgorithmName#offered
	 * offered} for the collective
	 */
	Algorithm create(Collective collective, AlgorithmName name) {
		if (!AlgorithmName.offered(collective).contains(name)) {
			throw new IllegalArgumentException("the collective has no algorithm " + name);
		}
		boolean bruck = name == AlgorithmName.BRUCK;
		boolean doubles = name == AlgorithmName.RECURSIVE_DOUBLING;
		return switch (collective) {
			case ALL_REDUCE -> allReduce(name);
			case REDUCE -> new TreeReduce(position(name), this.context);
			case BROADCAST -> new TreeBroadcast(position(name), this.context.transport());
			case ALL_GATHER -> bruck ? new BruckAllGather(this.context) : this.ring::allGather;
			case REDUCE_SCATTER -> doubles ? this.doubling::reduceScatter : new RingReduceScatter(this.context);
			case GATHER -> new TreeParts(position(name), true, this.context);
			case SCATTER -> new TreeParts(position(name), false, this.context);
			case ALL_TO_ALL -> bruck ? new BruckAllToAll(this.context) : new PairwiseAllToAll(this.context);
			case SCAN, EXCLUSIVE_SCAN -> new ChainScan(this.context);
			case BARRIER -> new DisseminationBarrier(this.context);
		};
	}

	private Algorithm allReduce(AlgorithmName name) {
		if (name == AlgorithmName.HALVING_DOUBLING) {
			return new HalvingDoublingAllReduce(this.context);
		}
		return (name == AlgorithmName.RECURSIVE_DOUBLING) ? this.doubling::allReduce : this.ring;
	}

	private TreePosition position(AlgorithmName tree) {
		return new TreePosition(Tree.valueOf(tree.name()), this.context);
	}

}
