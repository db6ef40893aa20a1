package io.tutti.engine.algorithm;

/**
 * The shape of a tree of ranks, which are numbered from the root. The subtree of a number
 * is the contiguous range from that number up to, but excluding, {@link #end}. The parts
 * that a subtree gathers or receives are therefore contiguous, too.
 */
interface Tree {

	/** Parent of a number above 0. */
	int parent(int number);

	/** Number of children. */
	int children(int number);

	/** A child's number; children are in ascending order. */
	int child(int number, int index);

	/** First number after the subtree of a number. */
	int end(int number);

}
