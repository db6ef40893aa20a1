package io.tutti.service.command;

import org.springframework.boot.context.config.ConfigDataEnvironmentPostProcessor;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertyResolver;
import org.springframework.core.env.StandardEnvironment;

/**
 * The properties that a rank's application would see (variables, system properties and
 * {@code application.yml} with its profiles), without starting one.
 */
final class ConfiguredProperties {

	private ConfiguredProperties() {
	}

	/** Reads them; quietly, since a command's output is for its user alone. */
	static PropertyResolver read() {
		LoggingSystem.get(ConfiguredProperties.class.getClassLoader()).beforeInitialize();
		ConfigurableEnvironment environment = new StandardEnvironment();
		ConfigDataEnvironmentPostProcessor.applyTo(environment);
		return environment;
	}

}
