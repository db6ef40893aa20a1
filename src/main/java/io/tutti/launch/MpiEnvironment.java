package io.tutti.launch;

import java.util.Map;

import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.mpi.Mpi;

/**
 * {@code MPI_Init} for a program that a launcher started: who this rank is, from the
 * launcher's variables, and the MPI library to run on, if {@value #LIBRARY} names one.
 */
public final class MpiEnvironment {

	/** Names the MPI library: {@code openmpi}, {@code mpich} or a path. */
	public static final String LIBRARY = "TUTTI_MPI_LIBRARY";

	private MpiEnvironment() {
	}

	/**
	 * Joins the world that this process's variables describe: Open MPI's pair, else
	 * PMI's, else {@code RANK} and {@code WORLD_SIZE}, else what else {@code tutti env}
	 * names, and none of them: rank 0 of 1.
	 * @throws ResolutionException if the first set that is there is malformed
	 */
	public static Mpi init() {
		return init(System.getenv());
	}

	/** As {@link #init()} with an environment of the caller's. */
	public static Mpi init(Map<String, String> environment) {
		String library = environment.get(LIBRARY);
		return init(environment, Mpi.settings((library != null && !library.isBlank()) ? library : null));
	}

	/** As {@link #init()} with settings of the caller's. */
	public static Mpi init(Map<String, String> environment, EngineSettings settings) {
		return Mpi.init(RankResolution.resolve(environment, ResolutionSettings.DEFAULTS).assignment(), settings);
	}

}
