package io.tutti.engine.algorithm;

/**
 * A tree in which all other ranks are children of the root: one hop, and no rank relays
 * data.
 */
final class StarTree implements Tree {

	private final int worldSize;

	StarTree(int worldSize) {
		this.worldSize = worldSize;
	}

	@Override
	public int parent(int number) {
		return 0;
	}

	@Override
	public int children(int number) {
		return (number == 0) ? this.worldSize - 1 : 0;
	}

	@Override
	public int child(int number, int index) {
		return index + 1;
	}

	@Override
	public int end(int number) {
		return (number == 0) ? this.worldSize : number + 1;
	}

}
