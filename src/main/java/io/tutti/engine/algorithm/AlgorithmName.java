package io.tutti.engine.algorithm;

/**
 * The algorithms by the names that people type and read.
 */
enum AlgorithmName {

	/** Chunks flow round a ring. */
	RING("ring"),
	/** Partners exchange all they have, at doubling distances. */
	RECURSIVE_DOUBLING("recursive-doubling"),
	/** Partners halve what they share, then put it together again. */
	HALVING_DOUBLING("halving-doubling"),
	/** A tree in which every rank that has the data gives it on at once. */
	BINOMIAL("binomial"),
	/** A tree with two children each. */
	BINARY("binary"),
	/** A tree with one child each. */
	CHAIN("chain"),
	/** A tree in which everyone is a child of the root. */
	STAR("star"),
	/** Every pair of ranks exchanges its parts. */
	PAIRWISE("pairwise"),
	/** Parts travel together by jumps of powers of two. */
	BRUCK("bruck"),
	/** Everyone has heard from everyone, directly or not. */
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
