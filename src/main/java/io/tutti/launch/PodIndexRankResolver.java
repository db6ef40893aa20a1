package io.tutti.launch;

/**
 * Resolves a pod's rank from its Kubernetes index: the index of an Indexed Job, or the
 * pod-index label of a StatefulSet, which the chart passes on as a variable. Kubernetes
 * does not provide the number of pods; the chart does.
 */
final class PodIndexRankResolver extends RankResolver {

	static final String JOB_INDEX = "JOB_COMPLETION_INDEX";

	static final String STATEFUL_SET_INDEX = "TUTTI_POD_INDEX";

	PodIndexRankResolver(String indexVariable) {
		super("kubernetes", indexVariable, "TUTTI_WORLD_SIZE");
	}

	/** The property first, since Spring reads it from a variable of the same name. */
	@Override
	String worldSizeVariable(Variables variables) {
		return variables.has(ResolutionSettings.WORLD_SIZE) ? ResolutionSettings.WORLD_SIZE
				: super.worldSizeVariable(variables);
	}

	@Override
	DeclaredLocalRank local(Variables variables, int worldSize) {
		return DeclaredLocalRank.ALONE;
	}

}
