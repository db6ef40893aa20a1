package io.tutti.service.command;

import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;

/**
 * What the conditions of the configurations on the class path read of an environment: the
 * properties of the framework and Tutti's switches, the active profiles and the Java
 * version. With equal inputs the conditions have equal outcomes.
 */
final class ConditionInputs {

	/**
	 * Letters and digits of the names, in lower case: more spellings than Spring accepts
	 * for a property.
	 */
	private static final Pattern READ = Pattern.compile(
			"(spring|management|server|loggingfile|orgspringframework).*|tutti(.*enabled|(enable)?gpu.*)|debug|trace");

	/** Set by Spring Boot itself, to other values for each process and jar. */
	private static final Set<String> ABOUT_THE_PROCESS = Set.of("spring.application.pid", "spring.application.version");

	private static final Pattern NEITHER_LETTER_NOR_DIGIT = Pattern.compile("[^a-z0-9]");

	private ConditionInputs() {
	}

	/** Returns the inputs in an environment, one per line. */
	static String of(ConfigurableEnvironment environment) {
		TreeSet<String> lines = new TreeSet<>();
		for (PropertySource<?> source : environment.getPropertySources()) {
			if (source instanceof EnumerablePropertySource<?> set) {
				Arrays.stream(set.getPropertyNames())
					.filter(ConditionInputs::isRead)
					.forEach((name) -> lines.add(name + "=" + value(name, environment)));
			}
			else {
				lines.add("source " + source.getName());
			}
		}
		lines.add("profiles " + Arrays.toString(environment.getActiveProfiles()));
		lines.add("java " + Runtime.version().feature());
		return String.join("\n", lines);
	}

	/** The variable of another program may have a value that Spring cannot resolve. */
	private static String value(String name, ConfigurableEnvironment environment) {
		try {
			return environment.getProperty(name);
		}
		catch (IllegalArgumentException ex) {
			return ex.getMessage();
		}
	}

	/** Whether a condition may read a property. */
	static boolean isRead(String name) {
		String letters = NEITHER_LETTER_NOR_DIGIT.matcher(name.toLowerCase(Locale.ROOT)).replaceAll("");
		return READ.matcher(letters).matches() && !ABOUT_THE_PROCESS.contains(name);
	}

}
