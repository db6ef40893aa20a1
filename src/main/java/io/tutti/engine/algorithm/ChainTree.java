package io.tutti.engine.algorithm;

/**
 * A tree of one child per rank. Its depth is {@code N - 1}, but no rank sends a long
 * buffer more than once, the minimum.
 */
final class ChainTree implements Tree {

	private final int worldSize;

	ChainTree(int worldSize) {
		this.worldSize = worldSize;
	}

	@Override
	public int parent(int number) {
		return number - 1;
	}

	@Override
	public int children(int number) {
		return (number + 1 < this.worldSize) ? 1 : 0;
	}

	@Override
	public int child(int number, int index) {
		return number + 1;
	}

	@Override
	public int end(int number) {
		return this.worldSize;
	}

}
