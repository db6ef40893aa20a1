package io.tutti.engine.backend;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

import io.tutti.BackendUnavailableException;
import io.tutti.BadConfigurationException;

/**
 * The list of backends. Each name is also the name of a Spring profile.
 */
public final class Backends {

	/** The built-in algorithms; the default. */
	public static final String TCP = "tcp";

	/** The MPI subset. */
	public static final String MPI = "mpi";

	/** Collectives on GPUs. */
	public static final String NCCL = "nccl";

	private static final List<Backend> ALL = List.of(new TcpBackend(), new MpiBackend(), new NcclBackend());

	private Backends() {
	}

	/** The names of all backends. */
	public static List<String> names() {
		return ALL.stream().map(Backend::name).toList();
	}

	/**
	 * The backend with a name.
	 * @throws BackendUnavailableException if there is none
	 */
	public static Backend of(String name) {
		return find(name).orElseThrow(() -> unavailable(name, unknown()));
	}

	/**
	 * Whether this process can use a backend. Does not throw.
	 * @param settings the settings for the backend; their own choice of backend is
	 * ignored
	 */
	public static Availability availability(String name, EngineSettings settings) {
		return find(name).map((backend) -> backend.availability(settings)).orElseGet(Backends::unknown);
	}

	/** Whether this process can use each of the backends, by name. */
	public static Map<String, Availability> availabilities(EngineSettings settings) {
		return ALL.stream()
			.collect(Collectors.toMap(Backend::name, (backend) -> backend.availability(settings), (one, other) -> one,
					LinkedHashMap::new));
	}

	/**
	 * Checks that the backend named in the settings can be used.
	 * @throws BackendUnavailableException if it cannot
	 */
	public static void requireAvailable(EngineSettings settings) {
		Availability answer = availability(settings.backend(), settings);
		if (!answer.available()) {
			throw unavailable(settings.backend(), answer);
		}
	}

	/**
	 * Checks that the backend named in the settings uses their MPI library, if there is
	 * one.
	 * @throws BadConfigurationException if it does not
	 */
	public static void requireLibraryUsed(EngineSettings settings) {
		if (settings.mpiLibrary() != null && !settings.backend().equals(MPI)) {
			throw new BadConfigurationException(
					"tutti.mpi.library=" + settings.mpiLibrary() + " has no effect on the backend "
							+ settings.backend(),
					"Choose mpi as the Spring profile or as tutti.backend, or unset tutti.mpi.library");
		}
	}

	private static BackendUnavailableException unavailable(String name, Availability answer) {
		return new BackendUnavailableException(name, answer.reason(), String.valueOf(answer.action()));
	}

	private static Optional<Backend> find(String name) {
		return ALL.stream().filter((backend) -> backend.name().equals(name)).findFirst();
	}

	private static Availability unknown() {
		return Availability.no("there is no backend of that name",
				"Choose one of " + String.join(", ", names()) + " as tutti.backend or as the Spring profile");
	}

}
