package io.tutti.launch;

/**
 * Resolves ranks started by Open MPI's {@code mpirun}.
 */
final class OpenMpiRankResolver extends RankResolver {

	OpenMpiRankResolver() {
		super("open-mpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
	}

	@Override
	DeclaredLocalRank local(Variables variables, int worldSize) {
		return DeclaredLocalRank.read(variables, "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", worldSize);
	}

	@Override
	String masterAddressAdvice() {
		return "mpirun -x MASTER_ADDR=HOST_OF_RANK_0 ...";
	}

}
