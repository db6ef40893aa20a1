package io.tutti.service.command;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aot.AotDetector;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.SpringProperties;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;

/**
 * Has Spring take the bean definitions that {@link BeanDefinitionGenerator} has generated
 * while the application was built, instead of evaluating the conditions of all
 * configurations again, if the evaluation would have the same result. It has if
 * everything that conditions read is as it was in the build: the properties of the
 * framework, Tutti's switches, the active profiles, the class path and the Java version.
 * Properties that only beans read may differ.
 */
final class GeneratedBeanDefinitions implements ApplicationListener<ApplicationEnvironmentPreparedEvent> {

	private static final Logger log = LoggerFactory.getLogger(GeneratedBeanDefinitions.class);

	/** Where the build keeps what the conditions have read, on the class path. */
	static final String INPUTS = "META-INF/io.tutti/condition-inputs.txt";

	/**
	 * Names, in lower case and with dots instead of underscores, of the properties that
	 * conditions of the configurations on the class path read.
	 */
	private static final Pattern READ_BY_CONDITIONS = Pattern
		.compile("(spring|management|server|springdoc)\\..*|tutti\\.(.*\\.)?enabled|tutti\\.gpu\\..*");

	/** Set by Spring Boot itself, to other values for each process and jar. */
	private static final Set<String> ABOUT_THE_PROCESS = Set.of("spring.application.pid", "spring.application.version");

	private final Class<?> application;

	GeneratedBeanDefinitions(Class<?> application) {
		this.application = application;
	}

	/** After the logging system, which needs no part of this. */
	@Override
	public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
		boolean apply = apply(event.getEnvironment());
		SpringProperties.setProperty(AotDetector.AOT_ENABLED, Boolean.toString(apply));
		log.debug(apply ? "bean definitions are those of the build" : "bean definitions are evaluated");
	}

	private boolean apply(ConfigurableEnvironment environment) {
		String generatedFrom = read();
		return generatedFrom != null && hasNoFurtherClasses() && generatedFrom.equals(inputs(environment));
	}

	/** Returns what the conditions have read in the build, {@code null} without one. */
	private @Nullable String read() {
		try (InputStream stream = this.application.getClassLoader().getResourceAsStream(INPUTS)) {
			return (stream != null) ? new String(stream.readAllBytes(), StandardCharsets.UTF_8) : null;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Further jars can have configurations, and classes that conditions look for. */
	private boolean hasNoFurtherClasses() {
		return !System.getProperty("java.class.path").contains(File.pathSeparator)
				&& Thread.currentThread().getContextClassLoader() == this.application.getClassLoader();
	}

	/** Returns everything in an environment that conditions read, one item per line. */
	static String inputs(ConfigurableEnvironment environment) {
		TreeSet<String> lines = new TreeSet<>();
		for (PropertySource<?> source : environment.getPropertySources()) {
			if (source instanceof EnumerablePropertySource<?> set) {
				Arrays.stream(set.getPropertyNames())
					.filter(GeneratedBeanDefinitions::isReadByConditions)
					.forEach((name) -> lines.add(name + "=" + environment.getProperty(name)));
			}
			else {
				lines.add("source " + source.getName());
			}
		}
		lines.add("profiles " + Arrays.toString(environment.getActiveProfiles()));
		lines.add("java " + Runtime.version().feature());
		return String.join("\n", lines);
	}

	static boolean isReadByConditions(String name) {
		return !ABOUT_THE_PROCESS.contains(name)
				&& READ_BY_CONDITIONS.matcher(name.toLowerCase(Locale.ROOT).replace('_', '.')).matches();
	}

}
