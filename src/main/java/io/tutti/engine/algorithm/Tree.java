package io.tutti.engine.algorithm;

/**
 * The shape of a tree of ranks, which are numbered from the root. The subtree of a number
 * is the contiguous range from that number up to, but excluding, {@link #end}. The parts
 * that a subtree gathers or receives are therefore contiguous, too.
 */
enum Tree {

	/**
	 * The parent's number is the child's number without its lowest set bit. The depth is
	 * {@code ceil(log2 N)}. Every rank forwards the data as soon as it has it, which
	 * gives the lowest latency for small buffers. The root has {@code ceil(log2 N)}
	 * children.
	 */
	BINOMIAL {
		@Override
		int parent(int number, int worldSize) {
			return number & (number - 1);
		}

		@Override
		int children(int number, int worldSize) {
			int span = end(number, worldSize) - number;
			return (span == 1) ? 0 : Integer.SIZE - Integer.numberOfLeadingZeros(span - 1);
		}

		@Override
		int child(int number, int index, int worldSize) {
			return number + (1 << index);
		}

		@Override
		int end(int number, int worldSize) {
			return (number == 0) ? worldSize : Math.min(worldSize, number + Integer.lowestOneBit(number));
		}
	},

	/**
	 * Two children per rank, which halve the rest of the subtree; the first child's
	 * subtree is the larger one. The depth is {@code log2 N}, and no rank sends a long
	 * buffer more than twice.
	 */
	BINARY {
		@Override
		int parent(int number, int worldSize) {
			int parent = 0;
			int end = worldSize;
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
		int children(int number, int worldSize) {
			return Math.min(2, end(number, worldSize) - number - 1);
		}

		@Override
		int child(int number, int index, int worldSize) {
			return (index == 0) ? number + 1 : middle(number, end(number, worldSize));
		}

		@Override
		int end(int number, int worldSize) {
			int at = 0;
			int end = worldSize;
			while (at != number) {
				int middle = middle(at, end);
				end = (number < middle) ? middle : end;
				at = (number < middle) ? at + 1 : middle;
			}
			return end;
		}

		/** First number of the second child's subtree. */
		private static int middle(int number, int end) {
			return number + 1 + (end - number) / 2;
		}
	},

	/**
	 * One child per rank. The depth is {@code N - 1}, but no rank sends a long buffer
	 * more than once, the minimum.
	 */
	CHAIN {
		@Override
		int parent(int number, int worldSize) {
			return number - 1;
		}

		@Override
		int children(int number, int worldSize) {
			return (number + 1 < worldSize) ? 1 : 0;
		}

		@Override
		int child(int number, int index, int worldSize) {
			return number + 1;
		}

		@Override
		int end(int number, int worldSize) {
			return worldSize;
		}
	},

	/** All other ranks are children of the root: one hop, and no rank relays data. */
	STAR {
		@Override
		int parent(int number, int worldSize) {
			return 0;
		}

		@Override
		int children(int number, int worldSize) {
			return (number == 0) ? worldSize - 1 : 0;
		}

		@Override
		int child(int number, int index, int worldSize) {
			return index + 1;
		}

		@Override
		int end(int number, int worldSize) {
			return (number == 0) ? worldSize : number + 1;
		}
	};

	/** Parent of a number above 0. */
	abstract int parent(int number, int worldSize);

	/** Number of children. */
	abstract int children(int number, int worldSize);

	/** A child's number; children are in ascending order. */
	abstract int child(int number, int index, int worldSize);

	/** First number after the subtree of a number. */
	abstract int end(int number, int worldSize);

}
