package io.tutti.launch;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The names of all properties of Tutti, from the metadata that the build generates. A
 * system property or variable whose name is one letter away from one of them is rejected,
 * so that a misspelt setting is not silently ignored. Other unknown names are not, since
 * other programs use them too: Kubernetes sets {@code TUTTI_HEALTH_PORT} for a service of
 * the name {@code tutti-health}.
 */
public final class PropertyNames {

	private static final String METADATA = "META-INF/spring-configuration-metadata.json";

	/** In each file, the groups stand before the properties. */
	private static final String PROPERTIES = "\"properties\":";

	private static final Pattern PROPERTY = Pattern
		.compile("\"name\":\\s*\"(tutti\\.[^\"]+)\",\\s*\"type\":\\s*\"([^\"]+)\"");

	private static final String PREFIX = "tutti.";

	private static final String VARIABLE_PREFIX = "TUTTI_";

	/**
	 * A name that does not exist.
	 *
	 * @param problem the name
	 * @param advice the name that is meant
	 */
	public record Mistake(String problem, String advice) {
	}

	/** By name: whether the property is a map or a list, which has names below it. */
	private final Map<String, Boolean> names;

	private PropertyNames(Map<String, Boolean> names) {
		this.names = names;
	}

	/** The properties of this build; none if the jar was repackaged without metadata. */
	public static PropertyNames ofTutti() {
		Map<String, Boolean> names = new TreeMap<>();
		try {
			for (URL metadata : Collections.list(PropertyNames.class.getClassLoader().getResources(METADATA))) {
				try (InputStream in = metadata.openStream()) {
					addAll(new String(in.readAllBytes(), StandardCharsets.UTF_8), names);
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException("cannot read " + METADATA, ex);
		}
		return new PropertyNames(names);
	}

	private static void addAll(String metadata, Map<String, Boolean> names) {
		int start = metadata.indexOf(PROPERTIES);
		Matcher matcher = PROPERTY.matcher(metadata);
		for (boolean found = start >= 0 && matcher.find(start); found; found = matcher.find()) {
			names.put(matcher.group(1), matcher.group(2).startsWith("java.util."));
		}
	}

	/** All names, such as {@code tutti.timeout.abort}. */
	public Set<String> names() {
		return this.names.keySet();
	}

	/** Whether names below this one are elements of it. */
	public boolean hasElements(String name) {
		return this.names.getOrDefault(name, false);
	}

	/**
	 * The first misspelt name; {@code null} if none is.
	 * @param systemProperties names of the system properties that are set
	 * @param variables names of the variables that are set
	 */
	public @Nullable Mistake misspelt(Collection<String> systemProperties, Collection<String> variables) {
		return Stream
			.concat(misspelt("property ", PREFIX, "[.\\[]", systemProperties, this.names.keySet()),
					misspelt("variable ", VARIABLE_PREFIX, "_", variables, variableNames()))
			.findFirst()
			.orElse(null);
	}

	private Stream<Mistake> misspelt(String kind, String prefix, String separator, Collection<String> set,
			Set<String> known) {
		return set.stream()
			.filter((name) -> name.startsWith(prefix) && !known.contains(name))
			.filter((name) -> !known.contains(name.split(separator + "\\d", 2)[0]))
			.sorted()
			.flatMap((name) -> Stream.ofNullable(NearestName.withinOneLetter(name, known))
				.map((meant) -> new Mistake("unknown " + kind + name, "Did you mean " + meant + "?")));
	}

	/** Hyphens are left out, or written as underscores. */
	private Set<String> variableNames() {
		return this.names.keySet()
			.stream()
			.flatMap((name) -> Stream.of(name.replace("-", ""), name.replace('-', '_')))
			.map((name) -> name.replace('.', '_').toUpperCase(Locale.ROOT))
			.collect(Collectors.toSet());
	}

}
