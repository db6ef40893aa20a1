package io.tutti.engine.algorithm;

import java.util.List;

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
import static io.tutti.engine.algorithm.AlgorithmName.BINOMIAL;
import static io.tutti.engine.algorithm.AlgorithmName.BRUCK;
import static io.tutti.engine.algorithm.AlgorithmName.CHAIN;
import static io.tutti.engine.algorithm.AlgorithmName.DISSEMINATION;
import static io.tutti.engine.algorithm.AlgorithmName.HALVING_DOUBLING;
import static io.tutti.engine.algorithm.AlgorithmName.PAIRWISE;
import static io.tutti.engine.algorithm.AlgorithmName.RECURSIVE_DOUBLING;
import static io.tutti.engine.algorithm.AlgorithmName.RING;
import static io.tutti.engine.algorithm.AlgorithmName.STAR;

/**
 * The algorithm for each call: of the rows for a group, the first whose size limit the
 * call does not exceed.
 */
final class AlgorithmTable {

	private static final int ANY_WORLD = Integer.MAX_VALUE;

	private static final long ANY_SIZE = Long.MAX_VALUE;

	private static final long KIB = 1024;

	private static final long MIB = 1024 * KIB;

	/** The rows, narrower before wider. */
	static final List<AlgorithmRule> RULES = List.of(
	// @formatter:off
			rule(ALL_REDUCE, 2, 64 * KIB, RECURSIVE_DOUBLING),
			rule(ALL_REDUCE, 2, ANY_SIZE, RING),
			rule(ALL_REDUCE, ANY_WORLD, 16 * KIB, RECURSIVE_DOUBLING),
			rule(ALL_REDUCE, ANY_WORLD, 256 * KIB, HALVING_DOUBLING),
			rule(ALL_REDUCE, 16, ANY_SIZE, RING),
			rule(ALL_REDUCE, ANY_WORLD, 16 * MIB, HALVING_DOUBLING),
			rule(ALL_REDUCE, 128, ANY_SIZE, RING),
			rule(ALL_REDUCE, ANY_WORLD, ANY_SIZE, HALVING_DOUBLING),
			rule(REDUCE, ANY_WORLD, 256 * KIB, BINOMIAL),
			rule(REDUCE, 16, ANY_SIZE, CHAIN),
			rule(REDUCE, ANY_WORLD, 16 * MIB, BINOMIAL),
			rule(REDUCE, ANY_WORLD, ANY_SIZE, CHAIN),
			rule(BROADCAST, ANY_WORLD, 256 * KIB, BINOMIAL),
			rule(BROADCAST, 16, ANY_SIZE, CHAIN),
			rule(BROADCAST, ANY_WORLD, 16 * MIB, AlgorithmName.BINARY),
			rule(BROADCAST, ANY_WORLD, ANY_SIZE, CHAIN),
			rule(ALL_GATHER, 2, ANY_SIZE, RING),
			rule(ALL_GATHER, ANY_WORLD, 64 * KIB, BRUCK),
			rule(ALL_GATHER, 16, ANY_SIZE, RING),
			rule(ALL_GATHER, ANY_WORLD, 16 * MIB, BRUCK),
			rule(ALL_GATHER, ANY_WORLD, ANY_SIZE, RING),
			rule(REDUCE_SCATTER, 3, ANY_SIZE, RING),
			rule(REDUCE_SCATTER, 64, 16 * KIB, RECURSIVE_DOUBLING),
			rule(REDUCE_SCATTER, 64, ANY_SIZE, RING),
			rule(REDUCE_SCATTER, 256, 256 * KIB, RECURSIVE_DOUBLING),
			rule(REDUCE_SCATTER, 256, ANY_SIZE, RING),
			rule(REDUCE_SCATTER, ANY_WORLD, MIB, RECURSIVE_DOUBLING),
			rule(REDUCE_SCATTER, ANY_WORLD, ANY_SIZE, RING),
			rule(GATHER, ANY_WORLD, 64 * KIB, BINOMIAL),
			rule(GATHER, ANY_WORLD, ANY_SIZE, STAR),
			rule(SCATTER, ANY_WORLD, 64 * KIB, BINOMIAL),
			rule(SCATTER, ANY_WORLD, ANY_SIZE, STAR),
			rule(ALL_TO_ALL, 4, ANY_SIZE, PAIRWISE),
			rule(ALL_TO_ALL, 64, 16 * KIB, BRUCK),
			rule(ALL_TO_ALL, 64, ANY_SIZE, PAIRWISE),
			rule(ALL_TO_ALL, 256, 64 * KIB, BRUCK),
			rule(ALL_TO_ALL, 256, ANY_SIZE, PAIRWISE),
			rule(ALL_TO_ALL, ANY_WORLD, 256 * KIB, BRUCK),
			rule(ALL_TO_ALL, ANY_WORLD, ANY_SIZE, PAIRWISE),
			rule(SCAN, ANY_WORLD, ANY_SIZE, CHAIN),
			rule(EXCLUSIVE_SCAN, ANY_WORLD, ANY_SIZE, CHAIN),
			rule(BARRIER, ANY_WORLD, ANY_SIZE, DISSEMINATION));
	// @formatter:on

	private AlgorithmTable() {
	}

	/** The rows that apply to a group, in order. */
	static List<AlgorithmRule> rules(Collective collective, int worldSize) {
		return RULES.stream()
			.filter((rule) -> rule.collective() == collective && worldSize <= rule.maxWorldSize())
			.toList();
	}

	private static AlgorithmRule rule(Collective collective, int maxWorldSize, long maxBytes, AlgorithmName algorithm) {
		return new AlgorithmRule(collective, maxWorldSize, maxBytes, algorithm);
	}

}
