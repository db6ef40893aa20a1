package io.tutti.service.config;

import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.tutti.BadConfigurationException;
import io.tutti.launch.NearestName;
import io.tutti.launch.PropertyNames;

import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;

/**
 * Rejects a property that is set but does not exist, so that a misspelt setting is not
 * silently ignored. Of system properties and variables only misspelt names are rejected,
 * as in a program without Spring, since other programs use them too.
 */
public final class KnownProperties {

	private static final ConfigurationPropertyName TUTTI = ConfigurationPropertyName.of("tutti");

	private static final Set<String> OWN_SOURCES = Set.of(RankLogging.SOURCE, LoggedRank.SOURCE);

	private final PropertyNames names;

	/** By name: whether the property is a map or a list, which has names below it. */
	private final Map<ConfigurationPropertyName, Boolean> canonical = new LinkedHashMap<>();

	private KnownProperties(PropertyNames names) {
		this.names = names;
		names.names()
			.forEach((name) -> this.canonical.put(ConfigurationPropertyName.of(name), names.hasElements(name)));
	}

	/** The properties of this build. */
	public static KnownProperties ofTutti() {
		return new KnownProperties(PropertyNames.ofTutti());
	}

	/**
	 * Rejects properties under {@code tutti.} that do not exist.
	 * @throws BadConfigurationException naming the property and the nearest existing one
	 */
	public void require(ConfigurableEnvironment environment) {
		for (PropertySource<?> source : environment.getPropertySources()) {
			if (source instanceof EnumerablePropertySource<?> set && !OWN_SOURCES.contains(source.getName())) {
				List<String> unknown = Arrays.stream(set.getPropertyNames()).filter((name) -> !isKnown(name)).toList();
				switch (source.getName()) {
					case StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME ->
						requireSpelling(unknown, Set.of());
					case StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME ->
						requireSpelling(Set.of(), Arrays.asList(set.getPropertyNames()));
					default -> unknown.forEach(this::reject);
				}
			}
		}
	}

	private void requireSpelling(Collection<String> systemProperties, Collection<String> variables) {
		PropertyNames.Mistake mistake = this.names.misspelt(systemProperties, variables);
		if (mistake != null) {
			throw new BadConfigurationException(mistake.problem(), mistake.advice());
		}
	}

	/** Names of others than Tutti are all known. */
	private boolean isKnown(String name) {
		ConfigurationPropertyName other = ConfigurationPropertyName.adapt(name, '.');
		return !TUTTI.isAncestorOf(other) || this.canonical.containsKey(other)
				|| this.canonical.entrySet()
					.stream()
					.anyMatch((known) -> known.getValue() && known.getKey().isAncestorOf(other));
	}

	private void reject(String name) {
		throw new BadConfigurationException("unknown property " + name,
				NearestName.advice(name, this.names.names(), "src/docs/configuration.md lists all properties"));
	}

}
