package io.tutti.engine.backend;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.tutti.BackendUnavailableException;

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

	private static final List<BackendKind> ALL = List.of(new TcpKind(), new MpiKind(), new NcclKind());

	private Backends() {
	}

	/** The names of all backends. */
	public static List<String> names() {
		return ALL.stream().map(BackendKind::name).toList();
	}

	/**
	 * Whether this process can use a backend. Does not throw.
	 * @param settings the settings for the backend; their own choice of backend is
	 * ignored
	 */
	public static Availability availability(String name, EngineSettings settings) {
		return ALL.stream()
			.filter((kind) -> kind.name().equals(name))
			.findFirst()
			.map((kind) -> kind.availability(settings))
			.orElseGet(() -> unknown(name));
	}

	/** Whether this process can use each of the backends, by name. */
	public static Map<String, Availability> availabilities(EngineSettings settings) {
		return ALL.stream()
			.collect(Collectors.toMap(BackendKind::name, (kind) -> kind.availability(settings), (one, other) -> one,
					LinkedHashMap::new));
	}

	/**
	 * Checks that the backend named in the settings can be used.
	 * @throws BackendUnavailableException if it cannot
	 */
	public static void requireAvailable(EngineSettings settings) {
		Availability answer = availability(settings.backend(), settings);
		if (!answer.available()) {
			throw new BackendUnavailableException(settings.backend(), answer.reason(), String.valueOf(answer.action()));
		}
	}

	/** The backend named in the settings; must be available. */
	static BackendKind kind(EngineSettings settings) {
		requireAvailable(settings);
		return ALL.stream().filter((kind) -> kind.name().equals(settings.backend())).findFirst().orElseThrow();
	}

	private static Availability unknown(String name) {
		return Availability.no("there is no backend of that name",
				"Choose one of " + String.join(", ", names()) + " as the Spring profile");
	}

}
