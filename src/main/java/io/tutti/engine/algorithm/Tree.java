package io.tutti.engine.algorithm;

/**
 * The shape of a tree of ranks, numbered from the root so that each subtree is the
 * numbers from its own root's up to, but not including, {@link #end}: what a subtree
 * gathers, or is to be given, is then one run of parts.
 */
interface Tree {

	/** Number of the parent of a number above 0. */
	int parent(int number);

	/** How many children a number has. */
	int children(int number);

	/** Number of a child; children are in ascending order. */
	int child(int number, int index);

	/** First number past the subtree of a number. */
	int end(int number);

}
