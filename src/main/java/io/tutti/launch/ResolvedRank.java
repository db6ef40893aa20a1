package io.tutti.launch;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.tutti.engine.RankAssignment;

/**
 * Who this process is, and how that was found out.
 *
 * @param assignment rank, world size and meeting point
 * @param source whose variables won: {@code properties}, {@code open-mpi}, {@code pmi},
 * {@code torchrun}, {@code slurm}, {@code kubeflow}, {@code kubernetes} or {@code none}
 * @param used the variables and properties that were read, with their values
 * @param ignored a line for each thing that was seen and not followed
 * @param conflicts a line for each set of lower precedence that says something else
 * @param generation which forming of the group this is, -1 if the launcher does not say
 */
public record ResolvedRank(RankAssignment assignment, String source, Map<String, String> used, List<String> ignored,
		List<String> conflicts, long generation) {

	public ResolvedRank {
		used = Collections.unmodifiableMap(new LinkedHashMap<>(used));
		ignored = List.copyOf(ignored);
		conflicts = List.copyOf(conflicts);
	}

}
