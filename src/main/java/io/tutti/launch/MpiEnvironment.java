package io.tutti.launch;

import java.util.Map;

import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.mpi.Mpi;

/**
 * {@code MPI_Init} for a program that a launcher started: resolves the rank from the
 * launcher's variables, and the MPI library from {@value #LIBRARY} if that is set.
 */
public final class MpiEnvironment {

	/** Names the MPI library: {@code openmpi}, {@code mpich} or a path. */
	public static final String LIBRARY = "TUTTI_MPI_LIBRARY";

	private MpiEnvironment() {
	}

	/**
	 * Joins the world that this process's variables describe: Open MPI's pair, else
	 * PMI's, else {@code RANK} and {@code WORLD_SIZE}, else the other launchers that
	 * {@code tutti env} supports. Without any of them this process is rank 0 of 1.
	 * @throws ResolutionException if the first set that is present is malformed
	 */
	public static Mpi init() {
		return init(System.getenv());
	}

	/** As {@link #init()}, with a given environment. */
	public static Mpi init(Map<String, String> environment) {
		String library = environment.get(LIBRARY);
		return init(environment, Mpi.settings((library != null && !library.isBlank()) ? library : null));
	}

	/** As {@link #init()}, with a given environment and settings. */
	public static Mpi init(Map<String, String> environment, EngineSettings settings) {
		return Mpi.init(RankResolution.resolve(environment, ResolutionSettings.DEFAULTS).assignment(), settings);
	}

}
