package io.tutti.service.command;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.tutti.launch.PropertyNames;
import io.tutti.launch.TuttiProgram;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * Decides whether Spring is needed to read the configuration of a process. Reading it
 * with Spring takes longer than the rest of {@code env}, and usually no file sets a
 * property of Tutti. In doubt the answer is yes.
 */
final class SpringConfiguration {

	private static final String FILE = "application.yml";

	private SpringConfiguration() {
	}

	/**
	 * Whether anything but a system property or a variable can set a property of Tutti: a
	 * configuration file, a profile, or a location that Spring is told to read.
	 * @param directory the working directory, in which Spring looks for files
	 */
	static boolean isUsed(Path directory, Map<String, String> environment, Map<String, String> systemProperties) {
		return Stream.of(environment, systemProperties)
			.flatMap((source) -> source.entrySet().stream())
			.anyMatch((entry) -> needsSpring(entry.getKey(), entry.getValue()))
				|| environment.keySet().stream().anyMatch(SpringConfiguration::isUnusualVariable)
				|| hasUnusualProperty(systemProperties.keySet()) || hasFiles(directory);
	}

	/** Spring's own settings, and values that refer to other properties. */
	private static boolean needsSpring(String name, String value) {
		String lower = name.toLowerCase(Locale.ROOT);
		return lower.startsWith("spring.") || lower.startsWith("spring_")
				|| (lower.startsWith("tutti") && value.contains("${"));
	}

	/** Spring also accepts a variable with exactly the name of a property. */
	private static boolean isUnusualVariable(String name) {
		return name.toLowerCase(Locale.ROOT).startsWith("tutti") && !name.startsWith("TUTTI_");
	}

	/** Spring also accepts a system property in another spelling, such as camel case. */
	private static boolean hasUnusualProperty(Set<String> systemProperties) {
		Set<String> own = systemProperties.stream()
			.filter((name) -> name.toLowerCase(Locale.ROOT).startsWith("tutti."))
			.filter((name) -> !name.equals(TuttiProgram.SCRIPT_PROPERTY))
			.collect(Collectors.toSet());
		return !own.isEmpty() && !PropertyNames.ofTutti().names().containsAll(own);
	}

	private static boolean hasFiles(Path directory) {
		try (Stream<Path> entries = Files.list(directory.toAbsolutePath());
				InputStream packaged = SpringConfiguration.class.getResourceAsStream("/" + FILE)) {
			List<String> names = entries.map((entry) -> entry.getFileName().toString())
				.filter((name) -> name.startsWith("application") || name.equals("config"))
				.toList();
			if (!List.of(FILE).containsAll(names) || (packaged != null && setsProperties(packaged))) {
				return true;
			}
			if (names.isEmpty()) {
				return false;
			}
			try (InputStream own = Files.newInputStream(directory.resolve(FILE))) {
				return setsProperties(own);
			}
		}
		catch (IOException | YAMLException ex) {
			return true;
		}
	}

	private static boolean setsProperties(InputStream yaml) {
		List<@Nullable Object> documents = new ArrayList<>();
		new Yaml(new SafeConstructor(new LoaderOptions())).loadAll(yaml).forEach(documents::add);
		return documents.size() != 1 || !(documents.getFirst() instanceof Map<?, ?> top)
				|| hasKey(top, "tutti", "spring.")
				|| (top.get("spring") instanceof Map<?, ?> spring && hasKey(spring, "config", "profiles"));
	}

	private static boolean hasKey(Map<?, ?> map, String... prefixes) {
		return map.keySet()
			.stream()
			.anyMatch((key) -> Stream.of(prefixes).anyMatch((prefix) -> String.valueOf(key).startsWith(prefix)));
	}

}
