package io.tutti.launch;

import java.util.Map;

/**
 * Decides whether the launcher lets the remaining ranks of a job continue when one of
 * them is lost.
 */
public final class ElasticLaunchers {

	private static final String MIN_RANKS = "tutti.elastic.min-ranks";

	/** The user sets it to 0, which srun reads as {@code --kill-on-bad-exit=0}. */
	private static final String KILL_ON_BAD_EXIT = "SLURM_KILL_BAD_EXIT";

	private ElasticLaunchers() {
	}

	/**
	 * Checks the launcher of this process.
	 * @param minRanks value of {@code tutti.elastic.min-ranks}
	 * @param resolved this process's rank
	 * @param variables the environment variables
	 * @throws ResolutionException if the launcher ends the remaining ranks
	 */
	public static void requireSupported(String minRanks, ResolvedRank resolved, Map<String, String> variables) {
		switch (resolved.source()) {
			case "open-mpi" -> throw refused(minRanks, "mpirun");
			case "pmi" -> {
				if (!new PmiRankResolver().startedBySlurm(new Variables(variables, ResolutionSettings.DEFAULTS))) {
					throw refused(minRanks, "mpiexec");
				}
				requireKeptBySlurm(minRanks, variables);
			}
			case "slurm" -> requireKeptBySlurm(minRanks, variables);
			case "torchrun" -> {
				if (variables.containsKey(RankEnvironment.RUN_ID)
						&& !variables.containsKey(RankEnvironment.LAUNCHER_PID)) {
					throw refused(minRanks, "torchrun");
				}
			}
			default -> {
			}
		}
	}

	private static void requireKeptBySlurm(String minRanks, Map<String, String> variables) {
		if (!"0".equals(variables.get(KILL_ON_BAD_EXIT))) {
			throw new ResolutionException(MIN_RANKS, minRanks, "no value under srun without SLURM_KILL_BAD_EXIT=0,"
					+ " since srun may end the remaining ranks when one is lost");
		}
	}

	private static ResolutionException refused(String minRanks, String launcher) {
		return new ResolutionException(MIN_RANKS, minRanks, "no value under " + launcher
				+ ", which ends the remaining ranks when one is lost; start the ranks with launch --min-ranks");
	}

}
