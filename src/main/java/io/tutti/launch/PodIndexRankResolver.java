package io.tutti.launch;

/**
 * Resolves a pod's rank from its Kubernetes index: the index of an Indexed Job, or the
 * pod-index label of a StatefulSet, which the chart passes on as a variable. Kubernetes
 * does not provide the number of pods; the chart does.
 */
final class PodIndexRankResolver implements RankResolver {

	static final String JOB_INDEX = "JOB_COMPLETION_INDEX";

	static final String STATEFUL_SET_INDEX = "TUTTI_POD_INDEX";

	private final String indexVariable;

	PodIndexRankResolver(String indexVariable) {
		this.indexVariable = indexVariable;
	}

	@Override
	public String source() {
		return "kubernetes";
	}

	@Override
	public String rankVariable() {
		return this.indexVariable;
	}

	/** The property first, since Spring reads it from a variable of the same name. */
	@Override
	public String worldSizeVariable(Variables variables) {
		return variables.has(ResolutionSettings.WORLD_SIZE) ? ResolutionSettings.WORLD_SIZE : "TUTTI_WORLD_SIZE";
	}

	@Override
	public DeclaredLocalRank local(Variables variables, int rank, int worldSize) {
		return DeclaredLocalRank.ALONE;
	}

}
