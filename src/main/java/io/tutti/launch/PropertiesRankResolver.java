package io.tutti.launch;

/**
 * {@code tutti.rank} and {@code tutti.world-size}: said by hand, before every launcher.
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
	public LocalClaim local(Variables variables, int rank, int worldSize) {
		return LocalClaim.UNKNOWN;
	}

}
