package io.tutti.engine.algorithm;

import java.util.List;

import io.tutti.Collective;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.Transport;

/**
 * Creates the algorithms of one group. They share working memory and cursors, since only
 * one runs at a time.
 */
final class AlgorithmFactory {

	private final GroupIdentity identity;

	private final int rank;

	private final int worldSize;

	private final Transport transport;

	private final ReductionKernels kernels;

	private final Scratch scratch;

	private final Chunks chunks;

	private final RingAllReduce ring;

	private final Exchange exchange;

	private final RecursiveDoubling doubling;

	AlgorithmFactory(GroupIdentity identity, Transport transport, ReductionKernels kernels, Scratch scratch) {
		this.identity = identity;
		this.rank = identity.rank();
		this.worldSize = identity.worldSize();
		this.transport = transport;
		this.kernels = kernels;
		this.scratch = scratch;
		this.chunks = new Chunks(this.worldSize);
		this.ring = new RingAllReduce(this.rank, this.worldSize, transport, kernels, this.chunks);
		this.exchange = new Exchange(transport, kernels);
		this.doubling = new RecursiveDoubling(this.rank, this.worldSize, this.exchange, kernels, this.chunks, scratch);
	}

	/** The algorithms that implement a collective. */
	static List<AlgorithmName> offered(Collective collective) {
		return switch (collective) {
			case ALL_REDUCE ->
				List.of(AlgorithmName.RING, AlgorithmName.RECURSIVE_DOUBLING, AlgorithmName.HALVING_DOUBLING);
			case REDUCE, BROADCAST ->
				List.of(AlgorithmName.BINOMIAL, AlgorithmName.BINARY, AlgorithmName.CHAIN, AlgorithmName.STAR);
			case ALL_GATHER -> List.of(AlgorithmName.RING, AlgorithmName.BRUCK);
			case REDUCE_SCATTER -> List.of(AlgorithmName.RING, AlgorithmName.RECURSIVE_DOUBLING);
			case GATHER, SCATTER -> List.of(AlgorithmName.BINOMIAL, AlgorithmName.STAR);
			case ALL_TO_ALL -> List.of(AlgorithmName.PAIRWISE, AlgorithmName.BRUCK);
			case SCAN, EXCLUSIVE_SCAN -> List.of(AlgorithmName.CHAIN);
			case BARRIER -> List.of(AlgorithmName.DISSEMINATION);
		};
	}

	/** Creates one of the {@link #offered} algorithms. */
	Algorithm create(Collective collective, AlgorithmName name) {
		return switch (collective) {
			case ALL_REDUCE -> allReduce(name);
			case REDUCE ->
				new TreeReduce(position(name), this.worldSize, this.transport, this.kernels, new Window(this.scratch));
			case BROADCAST -> new TreeBroadcast(position(name), this.transport);
			case ALL_GATHER -> (name == AlgorithmName.BRUCK)
					? new BruckAllGather(this.rank, this.worldSize, this.transport, this.chunks) : this.ring::allGather;
			case REDUCE_SCATTER ->
				(name == AlgorithmName.RECURSIVE_DOUBLING) ? this.doubling::reduceScatter : new RingReduceScatter(
						this.rank, this.worldSize, this.transport, this.kernels, this.chunks, this.scratch);
			case GATHER -> new TreeGather(position(name), this.rank, this.worldSize, this.transport, this.chunks);
			case SCATTER -> new TreeScatter(position(name), this.rank, this.worldSize, this.transport, this.chunks);
			case ALL_TO_ALL -> (name == AlgorithmName.BRUCK)
					? new BruckAllToAll(this.rank, this.worldSize, this.exchange, this.scratch)
					: new PairwiseAllToAll(this.identity, this.transport, this.chunks, this.scratch);
			case SCAN, EXCLUSIVE_SCAN ->
				new ChainScan(this.rank, this.worldSize, this.transport, this.kernels, new Window(this.scratch));
			case BARRIER -> new DisseminationBarrier(this.rank, this.worldSize, this.transport);
		};
	}

	private Algorithm allReduce(AlgorithmName name) {
		return switch (name) {
			case RECURSIVE_DOUBLING -> this.doubling::allReduce;
			case HALVING_DOUBLING ->
				new HalvingDoublingAllReduce(this.rank, this.worldSize, this.exchange, this.kernels);
			case RING, BINOMIAL, BINARY, CHAIN, STAR, PAIRWISE, BRUCK, DISSEMINATION -> this.ring;
		};
	}

	private TreePosition position(AlgorithmName name) {
		Tree tree = switch (name) {
			case CHAIN -> Tree.CHAIN;
			case BINARY -> Tree.BINARY;
			case STAR -> Tree.STAR;
			case BINOMIAL, RING, RECURSIVE_DOUBLING, HALVING_DOUBLING, PAIRWISE, BRUCK, DISSEMINATION -> Tree.BINOMIAL;
		};
		return new TreePosition(tree, this.rank, this.worldSize, this.transport);
	}

}
