package io.tutti.service.command;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.tutti.BadConfigurationException;
import io.tutti.ExitCode;
import io.tutti.service.backend.BackendProfile;
import io.tutti.service.config.LoggedRank;
import io.tutti.service.config.RankLogging;
import io.tutti.service.config.StartupFailures;
import io.tutti.service.config.Switch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;

/**
 * Runs one rank as a Spring application for the duration of a command.
 */
final class RankService {

	/** Less than the documented 5 s, to leave time for the JVM to exit. */
	static final Duration CLOSING = Duration.ofMillis(4500);

	/**
	 * Of a job: any free HTTP port, since several may run at once and the port need not
	 * be known in advance.
	 */
	static final Map<String, Object> JOB_DEFAULTS = Map.of("tutti.http.port", 0, RankLogging.QUIET_OTHERS, true);

	private static final Logger log = LoggerFactory.getLogger(RankService.class);

	/**
	 * Boot initializes in the background what a rank never uses, and ranks need the
	 * cores.
	 */
	private static final String NO_PREINITIALIZATION = "spring.backgroundpreinitializer.ignore";

	private static final String ENABLED = "tutti.enabled";

	private final Class<?> application;

	private final List<String> arguments;

	private final Map<String, Object> defaults;

	private final boolean debug;

	/**
	 * Creates a service without starting it.
	 * @param application the Spring application
	 * @param arguments properties from the command line
	 * @param defaults property values that any other property source overrides
	 * @param debug whether to print the stack trace of a failure
	 */
	RankService(Class<?> application, List<String> arguments, Map<String, Object> defaults, boolean debug) {
		this.application = application;
		this.arguments = arguments;
		this.defaults = defaults;
		this.debug = debug;
	}

	/**
	 * Starts the service, runs a part of a command and closes the service. A failure is
	 * printed on stderr before the service is closed, since closing may take seconds.
	 * @return the exit code
	 */
	int run(Part part) {
		return run(part, CLOSING);
	}

	/**
	 * As {@link #run(Part)}, with another limit.
	 * @param closing how long the service and the virtual machine may take to end
	 */
	int run(Part part, Duration closing) {
		return run((_) -> {
		}, part, closing);
	}

	/**
	 * As {@link #run(Part)}, with a check before this rank joins the group or serves
	 * HTTP.
	 * @param check throws an exception if the part cannot run
	 */
	int run(Consumer<ApplicationContext> check, Part part) {
		return run(check, part, CLOSING);
	}

	private int run(Consumer<ApplicationContext> check, Part part, Duration closing) {
		ConfigurableApplicationContext context;
		try {
			context = start(check);
		}
		catch (RuntimeException ex) {
			return FailureMessage.tell(StartupFailures.explain(ex), this.debug, System.err);
		}
		int code = carryOut(part, context);
		ExitDeadline.haltAfter(closing, code);
		context.close();
		return code;
	}

	private ConfigurableApplicationContext start(Consumer<ApplicationContext> check) {
		SpringApplication spring = application(this.application, this.defaults);
		spring.addListeners(new GeneratedBeanDefinitions(this.application));
		spring.addInitializers((context) -> requireGroup(context.getEnvironment()),
				(context) -> warnOfUnusedProfiles(context.getEnvironment()));
		spring.addInitializers((context) -> ((BeanDefinitionRegistry) context.getBeanFactory()).registerBeanDefinition(
				"tuttiCommandCheck",
				BeanDefinitionBuilder
					.genericBeanDefinition(SmartInitializingSingleton.class, () -> () -> check.accept(context))
					.getBeanDefinition()));
		return spring.run(this.arguments.toArray(String[]::new));
	}

	/**
	 * Returns an application with the default properties and the log levels of a rank.
	 */
	static SpringApplication application(Class<?> application, Map<String, Object> defaults) {
		System.setProperty(NO_PREINITIALIZATION, "true");
		SpringApplication spring = new SpringApplication(application);
		spring.setMainApplicationClass(application);
		spring.setDefaultProperties(defaults);
		spring.addListeners(new RankLogging());
		return spring;
	}

	private static void requireGroup(Environment environment) {
		if (!Switch.isOn(environment, ENABLED, true)) {
			throw new BadConfigurationException(
					ENABLED + "=" + environment.getProperty(ENABLED) + " leaves this command without a group",
					"Remove it: it is for Spring applications with this jar");
		}
	}

	/** On rank 0 only, since all ranks usually have the same profiles. */
	private static void warnOfUnusedProfiles(ConfigurableEnvironment environment) {
		if ("0".equals(environment.getProperty(LoggedRank.RANK))) {
			BackendProfile.describeUnused(environment).forEach(log::warn);
		}
	}

	private int carryOut(Part part, ConfigurableApplicationContext context) {
		try {
			return part.run(context);
		}
		catch (Exception | Error ex) {
			return context.isClosed() ? cutOff(ex) : FailureMessage.tell(ex, this.debug, System.err);
		}
	}

	/**
	 * Handles the failure of a part that was still running when a signal closed the
	 * service.
	 */
	private int cutOff(Throwable failure) {
		System.err.println("tutti: stopped before the command had ended");
		if (this.debug) {
			failure.printStackTrace();
		}
		return ExitCode.of(failure);
	}

	/** The work of a command while its service runs. */
	@FunctionalInterface
	interface Part {

		/** Returns the exit code. */
		int run(ConfigurableApplicationContext context) throws Exception;

	}

}
