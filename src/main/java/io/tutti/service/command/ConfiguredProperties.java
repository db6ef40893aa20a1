package io.tutti.service.command;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.tutti.launch.ProcessProperties;
import io.tutti.service.backend.BackendProfile;
import io.tutti.service.config.KnownProperties;
import io.tutti.service.config.StartupFailures;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.config.ConfigDataEnvironmentPostProcessor;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.SimpleCommandLinePropertySource;
import org.springframework.core.env.StandardEnvironment;

/**
 * The properties that a rank's application would read (the command line, variables,
 * system properties and {@code application.yml} with its profiles), without starting one.
 */
final class ConfiguredProperties {

	private ConfiguredProperties() {
	}

	/**
	 * Reads the properties; the elements of a list are separated by commas. Spring is not
	 * used where no file configures anything.
	 * @param arguments properties from the command line
	 * @param warnings receives a line for each active profile that selects nothing
	 * @throws io.tutti.BadConfigurationException if a property does not exist or a file
	 * cannot be read
	 * @throws IllegalArgumentException if a property is misspelt where Spring is not used
	 */
	static Function<String, @Nullable String> read(List<String> arguments, Consumer<String> warnings) {
		if (arguments.isEmpty() && !SpringConfiguration.isUsed(Path.of(""), System.getenv(), systemProperties())) {
			ProcessProperties own = ProcessProperties.ofThisProcess();
			own.requireSpelling();
			return own::text;
		}
		return WithSpring.read(arguments, warnings);
	}

	private static Map<String, String> systemProperties() {
		return System.getProperties()
			.stringPropertyNames()
			.stream()
			.collect(Collectors.toMap(Function.identity(), System::getProperty));
	}

	/** A separate class, so that Spring's classes are loaded only when needed. */
	private static final class WithSpring {

		private WithSpring() {
		}

		/** Suppresses log output: stdout and stderr carry the command's own output. */
		static Function<String, @Nullable String> read(List<String> arguments, Consumer<String> warnings) {
			LoggingSystem.get(ConfiguredProperties.class.getClassLoader()).beforeInitialize();
			ConfigurableEnvironment environment = new StandardEnvironment();
			environment.getPropertySources()
				.addFirst(new SimpleCommandLinePropertySource(arguments.toArray(String[]::new)));
			try {
				ConfigDataEnvironmentPostProcessor.applyTo(environment);
			}
			catch (RuntimeException ex) {
				throw StartupFailures.explain(ex);
			}
			KnownProperties.ofTutti().require(environment);
			BackendProfile.describeUnused(environment).forEach(warnings);
			Binder binder = Binder.get(environment);
			return (name) -> binder.bind(name, Bindable.listOf(String.class))
				.map((elements) -> String.join(",", elements))
				.orElse(null);
		}

	}

}
