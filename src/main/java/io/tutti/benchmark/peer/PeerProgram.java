package io.tutti.benchmark.peer;

import java.util.List;

/**
 * A program or library to be compiled for a peer.
 *
 * @param name file name of the result
 * @param source name of its source file
 * @param compiler the compiler
 * @param flags compiler arguments before the source
 * @param libraries compiler arguments after the source
 */
record PeerProgram(String name, String source, String compiler, List<String> flags, List<String> libraries) {

	/** Preloaded library that sets the congestion control of every TCP socket. */
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
