package io.tutti.launch;

/**
 * Resolves {@code tutti.rank} and {@code tutti.world-size}, which are set by hand and
 * take precedence over every launcher.
 */
final class PropertiesRankResolver implements RankResolver {

	@Override
	public String source() {
		return "properties";
	}

	@Override
	public String rankVariable() {
		return ResolutionSettings.RANK;
	}

	@Override
	public String worldSizeVariable(Variables variables) {
		return ResolutionSettings.WORLD_SIZE;
	}

	@Override
	public DeclaredLocalRank local(Variables variables, int rank, int worldSize) {
		return DeclaredLocalRank.UNKNOWN;
	}

}
