package io.tutti.engine.backend;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.tutti.BackendUnavailableException;

/**
 * The one place that lists the backends. Each is also the name of a Spring profile.
 */
public final class Backends {

	/** Our own algorithms; what is used where nothing else is asked for. */
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
	 * Whether this process can use a backend. An answer, never an exception.
	 * @param settings what the backend would be used with; its own choice of a backend
	 * does not matter here
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
	 * Checks that the backend that the settings name can be used.
	 * @throws BackendUnavailableException if it cannot
	 */
	public static void requireAvailable(EngineSettings settings) {
		Availability answer = availability(settings.backend(), settings);
		if (!answer.available()) {
			throw new BackendUnavailableException(settings.backend(), answer.reason(), String.valueOf(answer.action()));
		}
	}

	/** The backend that the settings name; must be available. */
	static BackendKind kind(EngineSettings settings) {
		requireAvailable(settings);
		return ALL.stream().filter((kind) -> kind.name().equals(settings.backend())).findFirst().orElseThrow();
	}

	private static Availability unknown(String name) {
		return Availability.no("there is no backend of that name",
				"Choose one of " + String.join(", ", names()) + " as the Spring profile");
	}

}
