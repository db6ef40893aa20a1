package io.tutti.benchmark.peer;

import java.util.List;

/**
 * Something to be compiled for a peer.
 *
 * @param name what the result is called
 * @param source name of its one source file
 * @param compiler what compiles it
 * @param flags words before the source
 * @param libraries words after it
 */
record PeerProgram(String name, String source, String compiler, List<String> flags, List<String> libraries) {

	/** Gives every TCP socket of a program the congestion control it is told. */
	static final PeerProgram CONGESTION_CONTROL = new PeerProgram("cc_shim.so", "cc_shim.c", "gcc",
			List.of("-shared", "-fPIC", "-O2"), List.of("-ldl"));

	static PeerProgram of(Peer peer) {
		return switch (peer) {
			case OPENMPI -> mpi("mpi_bench.openmpi", "mpicc.openmpi");
			case MPICH -> mpi("mpi_bench.mpich", "mpicc.mpich");
			case GLOO -> new PeerProgram("gloo_bench", "gloo_bench.cpp", "g++",
					List.of("-std=c++17", "-O3", "-march=native"), List.of("-lgloo", "-lpthread"));
		};
	}

	private static PeerProgram mpi(String name, String compiler) {
		return new PeerProgram(name, "mpi_bench.c", compiler, List.of("-O3", "-march=native"), List.of());
	}

}
