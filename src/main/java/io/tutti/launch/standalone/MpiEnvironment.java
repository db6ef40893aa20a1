package io.tutti.launch.standalone;

import java.util.Map;

import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.mpi.Mpi;
import io.tutti.launch.ProcessProperties;
import io.tutti.launch.RankResolution;
import io.tutti.launch.ResolutionSettings;
import io.tutti.launch.ResolvedRank;

/**
 * {@code MPI_Init} for a program that a launcher started: resolves the rank from the
 * launcher's variables, and the documented {@code tutti.*} properties determine the rest,
 * as for a process group. The MPI library is that of {@value #LIBRARY}, if it is set.
 */
public final class MpiEnvironment {

	/** Names the MPI library: {@code openmpi}, {@code mpich} or a path. */
	public static final String LIBRARY = "TUTTI_MPI_LIBRARY";

	private static final String LIBRARY_PROPERTY = "tutti.mpi.library";

	private MpiEnvironment() {
	}

	/**
	 * Joins the world that this process's variables describe: Open MPI's pair, else
	 * PMI's, else {@code RANK} and {@code WORLD_SIZE}, else the other launchers that
	 * {@code tutti env} supports. Without any of them this process is rank 0 of 1.
	 * @return MPI, initialized: every rank has joined
	 * @throws io.tutti.launch.ResolutionException if the first set that is present is
	 * malformed
	 * @throws io.tutti.BadConfigurationException if a property is invalid, or if rank 0
	 * would listen beyond this host without a token
	 */
	public static Mpi init() {
		return init(ProcessProperties.ofThisProcess());
	}

	/**
	 * As {@link #init()}, with a given environment and without system properties.
	 * @param environment variables to read instead of the process's own
	 * @return MPI, initialized: every rank has joined
	 */
	public static Mpi init(Map<String, String> environment) {
		return init(ProcessProperties.of(Map.of(), environment));
	}

	private static Mpi init(ProcessProperties properties) {
		StandaloneSettings settings = new StandaloneSettings(properties);
		settings.requireSpelling();
		settings.requireNotElastic();
		ResolvedRank resolved = RankResolution.resolve(properties.variables(),
				ResolutionSettings.from(properties::text));
		String library = properties.text(LIBRARY_PROPERTY, "");
		if (library.isBlank()) {
			return Mpi.init(resolved.assignment(), settings.of(resolved));
		}
		EngineSettings onLibrary = settings.ofAuthenticated(resolved);
		return Mpi.init(resolved.assignment(), onLibrary.withBackend(onLibrary.backend(), library));
	}

	/**
	 * As {@link #init()}, with a given environment and settings.
	 * @param environment variables to read instead of the process's own
	 * @param settings settings of the engine
	 * @return MPI, initialized: every rank has joined
	 */
	public static Mpi init(Map<String, String> environment, EngineSettings settings) {
		return Mpi.init(RankResolution.resolve(environment, ResolutionSettings.DEFAULTS).assignment(), settings);
	}

}
