package io.tutti.service.config;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;

/**
 * All properties of Tutti, from the metadata that the build generates. A property that is
 * set but does not exist is rejected, so that a misspelt setting is not silently ignored.
 * Environment variables and system properties are not checked, since other programs use
 * them too.
 */
public final class KnownProperties {

	private static final String METADATA = "META-INF/spring-configuration-metadata.json";

	private static final ConfigurationPropertyName TUTTI = ConfigurationPropertyName.of("tutti");

	private static final Set<String> NOT_LOOKED_AT = Set.of(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
			StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME, RankLogging.SOURCE);

	/** By name: whether the property is a map or a list, which has names below it. */
	private final Map<ConfigurationPropertyName, Boolean> names;

	private KnownProperties(Map<ConfigurationPropertyName, Boolean> names) {
		this.names = names;
	}

	/** The properties of this build. */
	public static KnownProperties ofTutti() {
		Map<ConfigurationPropertyName, Boolean> names = new LinkedHashMap<>();
		try {
			for (URL metadata : Collections.list(KnownProperties.class.getClassLoader().getResources(METADATA))) {
				addAll(metadata, names);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException("cannot read " + METADATA, ex);
		}
		return new KnownProperties(names);
	}

	/** Adds only names below {@code tutti}, since any jar may contain metadata. */
	private static void addAll(URL metadata, Map<ConfigurationPropertyName, Boolean> names) throws IOException {
		try (InputStream text = metadata.openStream()) {
			for (JsonNode property : JsonMapper.shared().readTree(text).path("properties")) {
				ConfigurationPropertyName name = ConfigurationPropertyName.of(property.path("name").asString());
				if (TUTTI.isAncestorOf(name)) {
					names.put(name, property.path("type").asString("").startsWith("java.util."));
				}
			}
		}
	}

	/**
	 * Rejects properties under {@code tutti.} that do not exist.
	 * @throws ConfigurationException naming the property and the nearest existing one
	 */
	public void require(ConfigurableEnvironment environment) {
		for (PropertySource<?> source : environment.getPropertySources()) {
			if (source instanceof EnumerablePropertySource<?> set && !NOT_LOOKED_AT.contains(source.getName())) {
				for (String name : set.getPropertyNames()) {
					require(name);
				}
			}
		}
	}

	private void require(String name) {
		ConfigurationPropertyName canonical = ConfigurationPropertyName.adapt(name, '.');
		if (TUTTI.isAncestorOf(canonical) && !isKnown(canonical)) {
			throw new ConfigurationException("there is no property " + name, advice(name));
		}
	}

	private boolean isKnown(ConfigurationPropertyName name) {
		return this.names.containsKey(name) || this.names.entrySet()
			.stream()
			.anyMatch((known) -> known.getValue() && known.getKey().isAncestorOf(name));
	}

	private String advice(String name) {
		String nearest = NearestName.of(name,
				this.names.keySet().stream().map(ConfigurationPropertyName::toString).toList());
		return (nearest != null) ? "Did you mean " + nearest + "?" : "application.yml lists those that there are";
	}

}
