package io.tutti.launch;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * The documented properties of a process without Spring. A system property takes
 * precedence over the environment variable of the same name. A variable is written with
 * underscores for dots; hyphens are left out or written as underscores too
 * ({@code TUTTI_SECURITY_TOKENFILE} or {@code TUTTI_SECURITY_TOKEN_FILE}).
 */
public final class ProcessProperties {

	private static final Pattern SHORT_DURATION = Pattern.compile("(\\d{1,12})(ns|us|ms|s|m|h|d)?",
			Pattern.CASE_INSENSITIVE);

	private final Function<String, @Nullable String> systemProperties;

	private final Set<String> systemNames;

	private final Map<String, String> variables;

	private ProcessProperties(Function<String, @Nullable String> systemProperties, Set<String> systemNames,
			Map<String, String> variables) {
		this.systemProperties = systemProperties;
		this.systemNames = systemNames;
		this.variables = variables;
	}

	/** Reads properties from the given sources. */
	public static ProcessProperties of(Map<String, String> systemProperties, Map<String, String> variables) {
		return new ProcessProperties(systemProperties::get, systemProperties.keySet(), variables);
	}

	/**
	 * Properties of another source.
	 * @param properties returns the value of a property or {@code null}
	 */
	public static ProcessProperties of(Function<String, @Nullable String> properties) {
		return new ProcessProperties(properties, Set.of(), Map.of());
	}

	/** The properties of this process. */
	public static ProcessProperties ofThisProcess() {
		return new ProcessProperties(System::getProperty, System.getProperties().stringPropertyNames(),
				System.getenv());
	}

	/**
	 * These properties, of which a command line sets some as {@code --name=value}. Those
	 * take precedence.
	 */
	public ProcessProperties with(List<String> commandLine) {
		return new ProcessProperties((name) -> {
			String option = "--" + name + "=";
			for (String word : commandLine) {
				if (word.startsWith(option)) {
					return word.substring(option.length());
				}
			}
			return this.systemProperties.apply(name);
		}, this.systemNames, this.variables);
	}

	/**
	 * Checks that no name is misspelt.
	 * @throws IllegalArgumentException naming the first such property or variable and the
	 * one that is meant
	 */
	public void requireSpelling() {
		PropertyNames.Mistake mistake = PropertyNames.ofTutti().misspelt(this.systemNames, this.variables.keySet());
		if (mistake != null) {
			throw new IllegalArgumentException(mistake.problem() + ". " + mistake.advice());
		}
	}

	/** The environment variables. */
	public Map<String, String> variables() {
		return this.variables;
	}

	/** The text of a property, {@code null} if it is not set. */
	public @Nullable String text(String name) {
		String value = this.systemProperties.apply(name);
		if (value != null) {
			return value;
		}
		String compact = this.variables.get(variable(name));
		return (compact != null) ? compact : this.variables.get(variable(name.replace('-', '_')));
	}

	/** The text of a property, or a default. */
	public String text(String name, String otherwise) {
		String value = text(name);
		return (value != null) ? value : otherwise;
	}

	/** A boolean property, by default {@code false}. */
	public boolean flag(String name) {
		return flag(name, false);
	}

	/** A boolean property. */
	public boolean flag(String name, boolean otherwise) {
		String value = text(name, String.valueOf(otherwise)).toLowerCase(Locale.ROOT);
		return switch (value) {
			case "true" -> true;
			case "false" -> false;
			default -> throw invalid(name, value, "true or false");
		};
	}

	/** A port; 0 lets the kernel choose. */
	public int port(String name, int otherwise) {
		String expected = "a port in 0.." + WholeNumber.MAX_PORT;
		Integer port = number(name, expected);
		if (port != null && (port < 0 || port > WholeNumber.MAX_PORT)) {
			throw invalid(name, text(name, ""), expected);
		}
		return (port != null) ? port : otherwise;
	}

	/** A whole number, {@code null} if it is not set. */
	public @Nullable Integer number(String name, String expected) {
		String value = text(name);
		try {
			return (value != null) ? Integer.valueOf(value.strip()) : null;
		}
		catch (NumberFormatException ex) {
			throw invalid(name, value, expected);
		}
	}

	/**
	 * A duration such as {@code 500ms}, {@code 30s}, {@code 5m} or ISO's {@code PT30S};
	 * in milliseconds without a unit, as in Spring.
	 */
	public Duration duration(String name, Duration otherwise) {
		String value = text(name);
		if (value == null) {
			return otherwise;
		}
		Matcher matcher = SHORT_DURATION.matcher(value.strip());
		if (!matcher.matches()) {
			return isoDuration(name, value);
		}
		String unit = Objects.requireNonNullElse(matcher.group(2), "ms");
		return Duration.of(Long.parseLong(matcher.group(1)), switch (unit.toLowerCase(Locale.ROOT)) {
			case "ns" -> ChronoUnit.NANOS;
			case "us" -> ChronoUnit.MICROS;
			case "ms" -> ChronoUnit.MILLIS;
			case "s" -> ChronoUnit.SECONDS;
			case "m" -> ChronoUnit.MINUTES;
			case "h" -> ChronoUnit.HOURS;
			default -> ChronoUnit.DAYS;
		});
	}

	private static Duration isoDuration(String name, String value) {
		try {
			return Duration.parse(value.strip());
		}
		catch (DateTimeParseException ex) {
			throw invalid(name, value, "a duration such as 500ms, 30s, 5m or 1h");
		}
	}

	/** Creates the exception for an unexpected value. */
	public static IllegalArgumentException invalid(String name, String value, String expected) {
		return new IllegalArgumentException(
				name + "=" + value + " (or variable " + variable(name) + "): expected " + expected);
	}

	private static String variable(String name) {
		return name.replace("-", "").replace('.', '_').toUpperCase(Locale.ROOT);
	}

}
