package io.tutti;

import java.util.ServiceLoader;

/**
 * The provider of {@link ProcessGroup#fromEnvironment} and
 * {@link ElasticGroup#fromEnvironment}, which programs call instead. Joins the group that
 * this process's environment describes. Loaded as a service, so that this package does
 * not depend on launchers and bootstrap.
 */
public interface EnvironmentGroups {

	/**
	 * Joins the other ranks. The group owns all resources that are created for it.
	 * @param listener receives events from rendezvous on
	 * @return the group of all ranks
	 */
	ProcessGroup join(CollectiveListener listener);

	/**
	 * Prepares an elastic membership. Does not wait for other ranks.
	 * @param listener receives events from rendezvous on
	 * @return this process's membership
	 */
	ElasticGroup joinElastic(CollectiveListener listener);

	/**
	 * The implementation on the class path.
	 * @return the implementation on the class path
	 */
	static EnvironmentGroups load() {
		return ServiceLoader.load(EnvironmentGroups.class, EnvironmentGroups.class.getClassLoader())
			.findFirst()
			.orElseThrow(() -> new IllegalStateException(
					"no " + EnvironmentGroups.class.getName() + " is on the class path: META-INF/services of the jar is"
							+ " missing, as in a repackaged jar that dropped it"));
	}

}
