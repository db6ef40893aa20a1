package io.tutti.engine.algorithm;

/**
 * A parent is its child's number without the lowest set bit: {@code ceil(log2 N)} deep,
 * and every rank that has the data gives it on at once, so that few bytes reach everyone
 * soonest. The root has {@code ceil(log2 N)} children.
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
