package io.tutti.engine.algorithm;

/**
 * A tree of two children per rank, which halve the rest of the subtree. Its depth is
 * {@code log2 N}, and no rank sends a long buffer more than twice.
 */
final class BinaryTree implements Tree {

	private final int worldSize;

	BinaryTree(int worldSize) {
		this.worldSize = worldSize;
	}

	@Override
	public int parent(int number) {
		int parent = 0;
		int end = this.worldSize;
		while (true) {
			int middle = middle(parent, end);
			if (number == parent + 1 || number == middle) {
				return parent;
			}
			end = (number < middle) ? middle : end;
			parent = (number < middle) ? parent + 1 : middle;
		}
	}

	@Override
	public int children(int number) {
		return Math.min(2, end(number) - number - 1);
	}

	@Override
	public int child(int number, int index) {
		return (index == 0) ? number + 1 : middle(number, end(number));
	}

	@Override
	public int end(int number) {
		int at = 0;
		int end = this.worldSize;
		while (at != number) {
			int middle = middle(at, end);
			end = (number < middle) ? middle : end;
			at = (number < middle) ? at + 1 : middle;
		}
		return end;
	}

	/**
	 * First number of the second child's subtree; the first child's subtree is the larger
	 * one.
	 */
	private static int middle(int number, int end) {
		return number + 1 + (end - number) / 2;
	}

}
