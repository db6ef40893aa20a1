package io.tutti.service.config;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Generates the reference page of all properties of Tutti from the metadata that the
 * build derives from the records. The main method rewrites the page.
 */
final class ConfigurationReference {

	static final Path PAGE = Path.of("src", "docs", "configuration.md");

	private static final String METADATA = "META-INF/spring-configuration-metadata.json";

	private static final String HEAD = """
			# Configuration

			All properties of Tutti, generated from their records. They can be set in `application.yml`, as `--name=value` on
			the command line, and as variables (`TUTTI_TIMEOUT_HEARTBEAT=10s` is `tutti.timeout.heartbeat`; a dash is left out or
			written `_`). The command line overrides variables, and variables override the file. Spring Boot's own properties work too. If the default
			column is empty, the description gives the default. Durations are written `10s`, `5m`; sizes `64MB`.

			A property of Tutti in a file or on the command line that does not exist ends a rank with 64. Of variables and system
			properties, which other programs set too, only names with the prefix of Tutti that are one letter away from an existing one do, also
			in programs without Spring; the message names the property that is meant.

			""";

	private ConfigurationReference() {
	}

	public static void main(String[] args) throws IOException {
		Files.writeString(PAGE, page());
	}

	/** The expected content of the page. */
	static String page() throws IOException {
		Map<String, String> rows = new TreeMap<>();
		for (URL metadata : Collections.list(ConfigurationReference.class.getClassLoader().getResources(METADATA))) {
			try (InputStream text = metadata.openStream()) {
				for (JsonNode property : JsonMapper.shared().readTree(text).path("properties")) {
					String name = property.path("name").asString();
					if (name.startsWith("tutti.")) {
						rows.put(name, row(name, property));
					}
				}
			}
		}
		return HEAD + "| property | type | default | description |\n|---|---|---|---|\n"
				+ String.join("", rows.values());
	}

	private static String row(String name, JsonNode property) {
		String description = property.path("description").asString("").replaceAll("\\{@code ([^}]*)}", "`$1`");
		if (description.isBlank()) {
			throw new IllegalStateException(name + " has no description: document its record component");
		}
		String standard = property.path("defaultValue").asString("");
		return "| `" + name + "` | " + type(property.path("type").asString()) + " | "
				+ (standard.isEmpty() ? "" : "`" + standard + "`") + " | "
				+ description.replaceAll("\\s+", " ").replace("|", "\\|") + " |\n";
	}

	private static String type(String name) {
		if (name.startsWith("java.util.List<")) {
			return "list";
		}
		if (!name.startsWith("io.tutti.")) {
			return name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
		}
		Object[] constants = constants(name);
		return (constants == null) ? "text"
				: Arrays.stream(constants)
					.map((constant) -> "`" + ((Enum<?>) constant).name().toLowerCase(Locale.ROOT) + "`")
					.collect(Collectors.joining(", "));
	}

	private static Object[] constants(String name) {
		try {
			return Class.forName(name).getEnumConstants();
		}
		catch (ClassNotFoundException ex) {
			throw new UncheckedIOException(new IOException("metadata names a class that there is not", ex));
		}
	}

}
