package io.tutti.launch;

import org.jspecify.annotations.Nullable;

/**
 * What a launcher says of a process's place on its host.
 *
 * @param localRank place among the ranks of this host, {@code null} if it does not say
 * @param localWorldSize ranks on this host, {@code null} if it does not say
 */
record LocalClaim(@Nullable Integer localRank, @Nullable Integer localWorldSize) {

	/** The launcher says nothing. */
	static final LocalClaim UNKNOWN = new LocalClaim(null, null);

	/** The only rank of its host, as in a pod. */
	static final LocalClaim ALONE = new LocalClaim(0, 1);

	/**
	 * Reads the pair of variables by which most launchers say it.
	 * @throws ResolutionException if a value that is set cannot be true
	 */
	static LocalClaim read(Variables variables, String rankVariable, String worldSizeVariable, int worldSize) {
		Integer localWorldSize = variables.number(worldSizeVariable, 1, worldSize, "the world size is " + worldSize);
		int bound = (localWorldSize != null) ? localWorldSize : worldSize;
		Integer localRank = variables.number(rankVariable, 0, bound - 1,
				((localWorldSize != null) ? "the local world size is " : "the world size is ") + bound);
		return new LocalClaim(localRank, localWorldSize);
	}

}
