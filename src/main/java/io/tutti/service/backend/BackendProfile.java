package io.tutti.service.backend;

import java.util.Arrays;
import java.util.List;

import io.tutti.BackendUnavailableException;
import io.tutti.BadConfigurationException;
import io.tutti.engine.backend.Backends;
import io.tutti.launch.NearestName;
import io.tutti.service.config.Switch;

import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;

/**
 * Activates the profile of the backend that {@code tutti.backend} names, and checks that
 * the profiles of at most one backend are active. Other profiles belong to the
 * application and are ignored.
 */
public final class BackendProfile implements EnvironmentPostProcessor, Ordered {

	/** Name of the property. */
	public static final String PROPERTY = "tutti.backend";

	/** What the names of Spring's properties for groups of profiles begin with. */
	private static final String GROUPS = "spring.profiles.group.";

	/** Spring's property for the profiles that a part of a file is for. */
	private static final String ON_PROFILE = "spring.config.activate.on-profile";

	@Override
	public void postProcessEnvironment(ConfigurableEnvironment environment, SpringApplication application) {
		if (!Switch.isOn(environment, "tutti.enabled", true)) {
			return;
		}
		String name = environment.getProperty(PROPERTY);
		if (name != null) {
			requireKnown(name);
			environment.addActiveProfile(name);
		}
		requireAtMostOne(environment.getActiveProfiles());
	}

	/**
	 * Checks the value of the property.
	 * @throws BadConfigurationException if it does not name a backend
	 */
	public static void requireKnown(String name) {
		if (!Backends.names().contains(name)) {
			throw new BadConfigurationException(PROPERTY + "=" + name + " is not a backend", NearestName.advice(name,
					Backends.names(), "The backends are " + String.join(", ", Backends.names())));
		}
	}

	static void requireAtMostOne(String[] activeProfiles) {
		List<String> chosen = Arrays.stream(activeProfiles).filter(Backends.names()::contains).distinct().toList();
		if (chosen.size() > 1) {
			throw new BackendUnavailableException(String.join(" and ", chosen),
					"only one backend can be used at a time",
					"Keep one of the profiles " + String.join(", ", chosen)
							+ " (spring.profiles.active, variable SPRING_PROFILES_ACTIVE, launch --profile, or "
							+ PROPERTY + ")");
		}
	}

	/**
	 * Describes each active profile that neither selects a backend nor has a
	 * configuration: a name that may be misspelt. For Tutti's own commands, since the
	 * profiles of another application may have beans instead.
	 */
	public static List<String> describeUnused(ConfigurableEnvironment environment) {
		List<String> backends = Backends.names();
		return Arrays.stream(environment.getActiveProfiles())
			.filter((profile) -> !backends.contains(profile) && !isConfigured(environment, profile))
			.map((profile) -> "profile " + profile + " selects no backend and has no configuration (application-"
					+ profile + ".yml). "
					+ NearestName.advice(profile, backends, "The backends are " + String.join(", ", backends)))
			.toList();
	}

	/** Whether a file, a part of one or a group of profiles is for a profile. */
	private static boolean isConfigured(ConfigurableEnvironment environment, String profile) {
		return environment.getPropertySources()
			.stream()
			.anyMatch((source) -> source.getName().contains("-" + profile + ".")
					|| (source instanceof EnumerablePropertySource<?> set && Arrays.stream(set.getPropertyNames())
						.anyMatch((name) -> isFor(profile, name, String.valueOf(set.getProperty(name))))));
	}

	/** An element of a list has its index at the end of its name. */
	private static boolean isFor(String profile, String name, String value) {
		String list = name.replaceFirst("\\[\\d+]$", "");
		return list.equals(GROUPS + profile)
				|| (list.equals(ON_PROFILE) && List.of(value.split("[\\s,&|!()]+")).contains(profile));
	}

	/** After the configuration files are read. */
	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE;
	}

}
