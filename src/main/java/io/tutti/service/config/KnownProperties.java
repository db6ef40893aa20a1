package io.tutti.service.config;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

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

	/** Most jars' metadata does not contain it and is not parsed. */
	private static final String QUOTED_PREFIX = "\"tutti.";

	private static final ConfigurationPropertyName TUTTI = ConfigurationPropertyName.of("tutti");

	private static final Set<String> UNCHECKED_SOURCES = Set.of(
			StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
			StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME, RankLogging.SOURCE, LoggedRank.SOURCE);

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

	/**
	 * Adds only names below {@code tutti}, since any jar may contain metadata. Reads JSON
	 * as YAML, since an application need not have a JSON library. An escaped slash is not
	 * valid YAML.
	 */
	private static void addAll(URL metadata, Map<ConfigurationPropertyName, Boolean> names) throws IOException {
		try (InputStream in = metadata.openStream()) {
			String text = new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("\\/", "/");
			if (text.contains(QUOTED_PREFIX)) {
				addAll((Map<?, ?>) new Yaml(new SafeConstructor(new LoaderOptions())).load(text), names);
			}
		}
	}

	private static void addAll(Map<?, ?> metadata, Map<ConfigurationPropertyName, Boolean> names) {
		if (metadata.get("properties") instanceof List<?> properties) {
			properties.forEach((property) -> add((Map<?, ?>) property, names));
		}
	}

	private static void add(Map<?, ?> property, Map<ConfigurationPropertyName, Boolean> names) {
		ConfigurationPropertyName name = ConfigurationPropertyName.of(String.valueOf(property.get("name")));
		if (TUTTI.isAncestorOf(name)) {
			names.put(name, String.valueOf(property.get("type")).startsWith("java.util."));
		}
	}

	/**
	 * Rejects properties under {@code tutti.} that do not exist.
	 * @throws ConfigurationException naming the property and the nearest existing one
	 */
	public void require(ConfigurableEnvironment environment) {
		for (PropertySource<?> source : environment.getPropertySources()) {
			if (source instanceof EnumerablePropertySource<?> set && !UNCHECKED_SOURCES.contains(source.getName())) {
				for (String name : set.getPropertyNames()) {
					require(name);
				}
			}
		}
	}

	private void require(String name) {
		ConfigurationPropertyName canonical = ConfigurationPropertyName.adapt(name, '.');
		if (TUTTI.isAncestorOf(canonical) && !isKnown(canonical)) {
			throw new ConfigurationException("unknown property " + name, advice(name));
		}
	}

	private boolean isKnown(ConfigurationPropertyName name) {
		return this.names.containsKey(name) || this.names.entrySet()
			.stream()
			.anyMatch((known) -> known.getValue() && known.getKey().isAncestorOf(name));
	}

	private String advice(String name) {
		return NearestName.advice(name, this.names.keySet().stream().map(ConfigurationPropertyName::toString).toList(),
				"application.yml lists all properties");
	}

}
