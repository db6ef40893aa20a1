package io.tutti.launch;

import org.jspecify.annotations.Nullable;

/**
 * A process's local rank and local world size as given by a launcher.
 *
 * @param localRank rank among the ranks of this host, {@code null} if not given
 * @param localWorldSize ranks on this host, {@code null} if not given
 */
record DeclaredLocalRank(@Nullable Integer localRank, @Nullable Integer localWorldSize) {

	/** The launcher gives neither. */
	static final DeclaredLocalRank UNKNOWN = new DeclaredLocalRank(null, null);

	/** The only rank on its host, as in a pod. */
	static final DeclaredLocalRank ALONE = new DeclaredLocalRank(0, 1);

	/**
	 * Reads the pair of variables that most launchers set.
	 * @throws ResolutionException if a value is out of range or not a number
	 */
	static DeclaredLocalRank read(Variables variables, String rankVariable, String worldSizeVariable, int worldSize) {
		Integer localWorldSize = variables.number(worldSizeVariable, 1, worldSize, "the world size is " + worldSize);
		int bound = (localWorldSize != null) ? localWorldSize : worldSize;
		Integer localRank = variables.number(rankVariable, 0, bound - 1,
				((localWorldSize != null) ? "the local world size is " : "the world size is ") + bound);
		return new DeclaredLocalRank(localRank, localWorldSize);
	}

}
