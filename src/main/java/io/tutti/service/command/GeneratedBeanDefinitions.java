package io.tutti.service.command;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aot.AotDetector;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.SpringProperties;

/**
 * Has Spring use the bean definitions that {@link BeanDefinitionGenerator} has generated
 * while the application was built, instead of evaluating the conditions of all
 * configurations again, if the inputs of the conditions are as in the build and nothing
 * has been added to the class path. Properties that only beans read may differ. The
 * choice is that of the process, which runs one such application.
 */
final class GeneratedBeanDefinitions implements ApplicationListener<ApplicationEnvironmentPreparedEvent> {

	/** Where the build keeps the inputs of the conditions, on the class path. */
	static final String INPUTS = "META-INF/io.tutti/condition-inputs.txt";

	/** Options of the JVM that add to the classes, or remove some. */
	private static final List<String> CLASS_OPTIONS = List.of("-javaagent:", "-agent", "-Xbootclasspath",
			"--patch-module", "--module-path", "--upgrade-module-path", "--limit-modules");

	private static final Logger log = LoggerFactory.getLogger(GeneratedBeanDefinitions.class);

	private final Class<?> application;

	GeneratedBeanDefinitions(Class<?> application) {
		this.application = application;
	}

	/** After the logging system, which needs no part of this. */
	@Override
	public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
		String inputs = read();
		boolean apply = inputs != null && hasNoFurtherClasses()
				&& inputs.equals(ConditionInputs.of(event.getEnvironment()));
		SpringProperties.setProperty(AotDetector.AOT_ENABLED, Boolean.toString(apply));
		log.debug(apply ? "bean definitions are those of the build" : "bean definitions are evaluated");
	}

	/** Returns the inputs in the build, {@code null} if it has no definitions. */
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
				&& Thread.currentThread().getContextClassLoader() == this.application.getClassLoader()
				&& ManagementFactory.getRuntimeMXBean()
					.getInputArguments()
					.stream()
					.noneMatch((argument) -> CLASS_OPTIONS.stream().anyMatch(argument::startsWith));
	}

}
