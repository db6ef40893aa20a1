package io.tutti.service.command;

/**
 * Formats the number of ranks and their backend.
 */
final class RankCount {

	private RankCount() {
	}

	/** Such as {@code 2 ranks, backend tcp}. */
	static String of(int worldSize, String backend) {
		return (worldSize == 1) ? "1 rank" : worldSize + " ranks, backend " + backend;
	}

}
