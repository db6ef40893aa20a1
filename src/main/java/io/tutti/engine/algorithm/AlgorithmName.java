package io.tutti.engine.algorithm;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

import io.tutti.Collective;

import static io.tutti.Collective.ALL_GATHER;
import static io.tutti.Collective.ALL_REDUCE;
import static io.tutti.Collective.ALL_TO_ALL;
import static io.tutti.Collective.BARRIER;
import static io.tutti.Collective.BROADCAST;
import static io.tutti.Collective.EXCLUSIVE_SCAN;
import static io.tutti.Collective.GATHER;
import static io.tutti.Collective.REDUCE;
import static io.tutti.Collective.REDUCE_SCATTER;
import static io.tutti.Collective.SCAN;
import static io.tutti.Collective.SCATTER;

/**
 * Algorithms by their names in configuration and logs, with the collectives that they
 * implement.
 */
enum AlgorithmName {

	/** Chunks travel around a ring. */
	RING(ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER),
	/** Partners exchange the whole buffer, at doubling distances. */
	RECURSIVE_DOUBLING(ALL_REDUCE, REDUCE_SCATTER),
	/** Recursive halving, then recursive doubling. */
	HALVING_DOUBLING(ALL_REDUCE),
	/** A binomial tree, in which each rank forwards data as soon as it has it. */
	BINOMIAL(REDUCE, BROADCAST, GATHER, SCATTER),
	/** A tree in which each rank has two children. */
	BINARY(REDUCE, BROADCAST),
	/** Each rank passes data to the next one. */
	CHAIN(REDUCE, BROADCAST, SCAN, EXCLUSIVE_SCAN),
	/** A tree in which all other ranks are children of the root. */
	STAR(REDUCE, BROADCAST, GATHER, SCATTER),
	/** Each pair of ranks exchanges its parts directly. */
	PAIRWISE(ALL_TO_ALL),
	/** Parts are packed together and travel by powers of two. */
	BRUCK(ALL_GATHER, ALL_TO_ALL),
	/** Every rank signals every other, directly or through intermediaries. */
	DISSEMINATION(BARRIER);

	private final String label = name().toLowerCase(Locale.ROOT).replace('_', '-');

	private final List<Collective> collectives;

	AlgorithmName(Collective... collectives) {
		this.collectives = List.of(collectives);
	}

	/** The algorithms that implement a collective. */
	static List<AlgorithmName> offered(Collective collective) {
		return Arrays.stream(values()).filter((name) -> name.collectives.contains(collective)).toList();
	}

	@Override
	public String toString() {
		return this.label;
	}

}
