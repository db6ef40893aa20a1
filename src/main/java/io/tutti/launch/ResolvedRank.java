package io.tutti.launch;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.tutti.engine.RankAssignment;

/**
 * This process's rank and how it was resolved.
 *
 * @param assignment rank, world size and rendezvous address
 * @param source the source of the selected variables: {@code properties},
 * {@code open-mpi}, {@code pmi}, {@code torchrun}, {@code slurm}, {@code kubeflow},
 * {@code kubernetes} or {@code none}
 * @param used the variables and properties that are used, with their values
 * @param ignored one line for each variable that is set but not used
 * @param conflicts one line for each set of lower precedence that disagrees
 * @param generation generation of the group, -1 if the launcher does not give it
 */
public record ResolvedRank(RankAssignment assignment, String source, Map<String, String> used, List<String> ignored,
		List<String> conflicts, long generation) {

	public ResolvedRank {
		used = Collections.unmodifiableMap(new LinkedHashMap<>(used));
		ignored = List.copyOf(ignored);
		conflicts = List.copyOf(conflicts);
	}

}
