package io.tutti.engine.algorithm;

/**
 * A tree in which the parent's number is the child's number without its lowest set bit.
 * Its depth is {@code ceil(log2 N)}. Every rank forwards the data as soon as it has it,
 * which gives the lowest latency for small buffers. The root has {@code ceil(log2 N)}
 * children.
 */
final class BinomialTree implements Tree {

	private final int worldSize;

	BinomialTree(int worldSize) {
		this.worldSize = worldSize;
	}

	@Override
	public int parent(int number) {
		return number & (number - 1);
	}

	@Override
	public int children(int number) {
		int span = end(number) - number;
		return (span == 1) ? 0 : Integer.SIZE - Integer.numberOfLeadingZeros(span - 1);
	}

	@Override
	public int child(int number, int index) {
		return number + (1 << index);
	}

	@Override
	public int end(int number) {
		return (number == 0) ? this.worldSize : Math.min(this.worldSize, number + Integer.lowestOneBit(number));
	}

}
