package io.tutti.launch;

import org.jspecify.annotations.Nullable;

/**
 * Resolves ranks started with PMI, as by MPICH's {@code mpiexec}, Intel MPI and
 * {@code srun --mpi=pmi2}. The last one gives the local rank and the list of hosts only
 * in Slurm's own variables. These are used if Slurm's task equals PMI's rank.
 */
final class PmiRankResolver extends RankResolver {

	private static final String RANK = "PMI_RANK";

	private static final String SIZE = "PMI_SIZE";

	private final SlurmRankResolver slurm = new SlurmRankResolver();

	PmiRankResolver() {
		super("pmi", RANK, SIZE);
	}

	@Override
	DeclaredLocalRank local(Variables variables, int worldSize) {
		if (startedBySlurm(variables)) {
			return this.slurm.local(variables, worldSize);
		}
		return DeclaredLocalRank.read(variables, "MPI_LOCALRANKID", "MPI_LOCALNRANKS", worldSize);
	}

	@Override
	@Nullable String masterAddress(Variables variables) {
		return startedBySlurm(variables) ? this.slurm.masterAddress(variables) : super.masterAddress(variables);
	}

	@Override
	String masterAddressAdvice() {
		return "mpiexec -genv MASTER_ADDR HOST_OF_RANK_0 ...";
	}

	/**
	 * Whether Slurm itself, and no {@code mpiexec} in its allocation, started the rank.
	 */
	boolean startedBySlurm(Variables variables) {
		return !variables.has("MPI_LOCALRANKID") && this.slurm.isTask(variables, RANK, SIZE);
	}

}
