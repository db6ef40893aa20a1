package io.tutti.engine.algorithm;

/**
 * The shape of a tree of ranks, which are numbered from the root. The subtree of a number
 * is the contiguous range from that number up to, but excluding, its end, and consists of
 * the number and the subtrees of its children in ascending order. The parts that a
 * subtree gathers or receives are therefore contiguous, too.
 */
enum Tree {

	/**
	 * A child's subtree is as large as the ranges of the children before it and the
	 * parent together. The depth is {@code ceil(log2 N)}. Every rank forwards the data as
	 * soon as it has it, which gives the lowest latency for small buffers. The root has
	 * {@code ceil(log2 N)} children.
	 */
	BINOMIAL {
		@Override
		int children(int number, int end) {
			return Integer.SIZE - Integer.numberOfLeadingZeros(end - number - 1);
		}

		@Override
		int child(int number, int index, int end) {
			return number + (1 << index);
		}
	},

	/**
	 * Two children per rank, which halve the rest of the subtree; the first child's
	 * subtree is the larger one. The depth is {@code log2 N}, and no rank sends a long
	 * buffer more than twice.
	 */
	BINARY {
		@Override
		int children(int number, int end) {
			return Math.min(2, end - number - 1);
		}

		@Override
		int child(int number, int index, int end) {
			return number + 1 + index * ((end - number) / 2);
		}
	},

	/**
	 * One child per rank. The depth is {@code N - 1}, but no rank sends a long buffer
	 * more than once, the minimum.
	 */
	CHAIN {
		@Override
		int children(int number, int end) {
			return Math.min(1, end - number - 1);
		}

		@Override
		int child(int number, int index, int end) {
			return number + 1;
		}
	},

	/** All other ranks are children of the root: one hop, and no rank relays data. */
	STAR {
		@Override
		int children(int number, int end) {
			return end - number - 1;
		}

		@Override
		int child(int number, int index, int end) {
			return number + 1 + index;
		}
	};

	/** Number of children of a number whose subtree ends before {@code end}. */
	abstract int children(int number, int end);

	/** Number of a child, the first of its subtree. */
	abstract int child(int number, int index, int end);

	/** First number after a child's subtree. */
	final int endOfChild(int number, int index, int end) {
		return (index + 1 < children(number, end)) ? child(number, index + 1, end) : end;
	}

}
