package io.tutti.service.config;

import java.util.Arrays;
import java.util.List;

import io.tutti.BackendUnavailableException;
import io.tutti.engine.backend.Backends;

/**
 * Selects the backend from the active profiles.
 */
final class BackendProfile {

	private BackendProfile() {
	}

	/**
	 * The backend that one of the profiles names, by default {@code tcp}. Profiles with
	 * other names are ignored.
	 * @throws BackendUnavailableException if the profiles name several backends
	 */
	static String of(String[] activeProfiles) {
		List<String> chosen = Arrays.stream(activeProfiles).filter(Backends.names()::contains).distinct().toList();
		if (chosen.size() > 1) {
			throw new BackendUnavailableException(String.join(" and ", chosen),
					"only one backend can be used at a time", "Keep one of the profiles " + String.join(", ", chosen)
							+ " (spring.profiles.active, variable " + "SPRING_PROFILES_ACTIVE, or launch --profile)");
		}
		return chosen.isEmpty() ? Backends.TCP : chosen.getFirst();
	}

}
