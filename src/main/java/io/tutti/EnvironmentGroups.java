package io.tutti;

import java.util.ServiceLoader;

/**
 * Joins the group that this process's environment speaks of. Found as a service, since
 * who a process is and how it joins are no concern of the engine's root.
 */
@FunctionalInterface
public interface EnvironmentGroups {

	/**
	 * Meets the other ranks; the group owns all that came with it.
	 * @param listener hears of the group from the meeting on
	 */
	ProcessGroup join(CollectiveListener listener);

	/** The one on the class path. */
	static EnvironmentGroups load() {
		return ServiceLoader.load(EnvironmentGroups.class, EnvironmentGroups.class.getClassLoader())
			.findFirst()
			.orElseThrow(() -> new IllegalStateException(
					"no " + EnvironmentGroups.class.getName() + " is on the class path: META-INF/services of the jar is"
							+ " missing, as in a repackaged jar that dropped it"));
	}

}
