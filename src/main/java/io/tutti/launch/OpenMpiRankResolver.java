package io.tutti.launch;

/**
 * Resolves ranks started by Open MPI's {@code mpirun}.
 */
final class OpenMpiRankResolver implements RankResolver {

	@Override
	public String source() {
		return "open-mpi";
	}

	@Override
	public String rankVariable() {
		return "OMPI_COMM_WORLD_RANK";
	}

	@Override
	public String worldSizeVariable(Variables variables) {
		return "OMPI_COMM_WORLD_SIZE";
	}

	@Override
	public DeclaredLocalRank local(Variables variables, int rank, int worldSize) {
		return DeclaredLocalRank.read(variables, "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", worldSize);
	}

	@Override
	public String masterAddressAdvice() {
		return "mpirun -x MASTER_ADDR=HOST_OF_RANK_0 ...";
	}

}
