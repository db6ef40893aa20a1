package io.tutti.service.command;

/**
 * How many ranks work together over what, in words.
 */
final class RankCount {

	private RankCount() {
	}

	/** Such as {@code 2 ranks over tcp}. */
	static String of(int worldSize, String backend) {
		return (worldSize == 1) ? "1 rank" : worldSize + " ranks over " + backend;
	}

}
