package io.tutti.service.command;

import java.util.List;

import io.tutti.service.config.KnownProperties;

import org.springframework.boot.context.config.ConfigDataEnvironmentPostProcessor;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertyResolver;
import org.springframework.core.env.SimpleCommandLinePropertySource;
import org.springframework.core.env.StandardEnvironment;

/**
 * The properties that a rank's application would see (the command line, variables, system
 * properties and {@code application.yml} with its profiles), without starting one.
 */
final class ConfiguredProperties {

	private ConfiguredProperties() {
	}

	/**
	 * Reads them; quietly, since a command's output is for its user alone.
	 * @param arguments properties of the command line
	 * @throws io.tutti.service.config.ConfigurationException if one does not exist
	 */
	static PropertyResolver read(List<String> arguments) {
		LoggingSystem.get(ConfiguredProperties.class.getClassLoader()).beforeInitialize();
		ConfigurableEnvironment environment = new StandardEnvironment();
		environment.getPropertySources()
			.addFirst(new SimpleCommandLinePropertySource(arguments.toArray(String[]::new)));
		ConfigDataEnvironmentPostProcessor.applyTo(environment);
		KnownProperties.ofTutti().require(environment);
		return environment;
	}

}
