package io.tutti.launch.standalone;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Properties by their documented names: a system property first, else the environment
 * variable that stands for it, dots as underscores and without hyphens.
 */
final class Properties {

	private static final Pattern SHORT_DURATION = Pattern.compile("(\\d{1,12})(ms|s|m|h)");

	private final Function<String, @Nullable String> systemProperties;

	private final Map<String, String> variables;

	Properties(Function<String, @Nullable String> systemProperties, Map<String, String> variables) {
		this.systemProperties = systemProperties;
		this.variables = variables;
	}

	Map<String, String> variables() {
		return this.variables;
	}

	/** The text of a property, {@code null} if nobody sets it. */
	@Nullable String text(String name) {
		String value = this.systemProperties.apply(name);
		return (value != null) ? value : this.variables.get(variable(name));
	}

	String text(String name, String otherwise) {
		String value = text(name);
		return (value != null) ? value : otherwise;
	}

	boolean flag(String name) {
		String value = text(name, "false").toLowerCase(Locale.ROOT);
		return switch (value) {
			case "true" -> true;
			case "false" -> false;
			default -> throw invalid(name, value, "true or false");
		};
	}

	int port(String name, int otherwise) {
		String value = text(name);
		if (value == null) {
			return otherwise;
		}
		try {
			int port = Integer.parseInt(value.strip());
			if (port >= 0 && port <= 65535) {
				return port;
			}
		}
		catch (NumberFormatException ex) {
			// As wrong as a number out of range.
		}
		throw invalid(name, value, "a port in 0..65535");
	}

	/** A time such as {@code 500ms}, {@code 30s}, {@code 5m} or ISO's {@code PT30S}. */
	Duration duration(String name, Duration otherwise) {
		String value = text(name);
		if (value == null) {
			return otherwise;
		}
		Matcher matcher = SHORT_DURATION.matcher(value.strip());
		if (!matcher.matches()) {
			return isoDuration(name, value);
		}
		long amount = Long.parseLong(matcher.group(1));
		return switch (matcher.group(2)) {
			case "ms" -> Duration.ofMillis(amount);
			case "s" -> Duration.ofSeconds(amount);
			case "m" -> Duration.ofMinutes(amount);
			default -> Duration.ofHours(amount);
		};
	}

	private static Duration isoDuration(String name, String value) {
		try {
			return Duration.parse(value.strip());
		}
		catch (DateTimeParseException ex) {
			throw invalid(name, value, "a time such as 500ms, 30s, 5m or 1h");
		}
	}

	static IllegalArgumentException invalid(String name, String value, String expected) {
		return new IllegalArgumentException(
				name + "=" + value + " (or variable " + variable(name) + "): expected " + expected);
	}

	private static String variable(String name) {
		return name.replace("-", "").replace('.', '_').toUpperCase(Locale.ROOT);
	}

}
