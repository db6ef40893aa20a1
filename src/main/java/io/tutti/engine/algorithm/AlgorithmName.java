package io.tutti.engine.algorithm;

/**
 * Algorithms by their names in configuration and logs.
 */
enum AlgorithmName {

	/** Chunks travel around a ring. */
	RING("ring"),
	/** Partners exchange the whole buffer, at doubling distances. */
	RECURSIVE_DOUBLING("recursive-doubling"),
	/** Recursive halving, then recursive doubling. */
	HALVING_DOUBLING("halving-doubling"),
	/** A binomial tree, in which each rank forwards data as soon as it has it. */
	BINOMIAL("binomial"),
	/** A tree in which each rank has two children. */
	BINARY("binary"),
	/** Each rank passes data to the next one. */
	CHAIN("chain"),
	/** A tree in which all other ranks are children of the root. */
	STAR("star"),
	/** Each pair of ranks exchanges its parts directly. */
	PAIRWISE("pairwise"),
	/** Parts are packed together and travel by powers of two. */
	BRUCK("bruck"),
	/** Every rank signals every other, directly or through intermediaries. */
	DISSEMINATION("dissemination");

	private final String label;

	AlgorithmName(String label) {
		this.label = label;
	}

	String label() {
		return this.label;
	}

	@Override
	public String toString() {
		return this.label;
	}

}
