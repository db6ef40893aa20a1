package io.tutti.service.command;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.tutti.service.config.PropertyCheck;
import io.tutti.service.config.RankLogging;
import io.tutti.service.config.StartupFailures;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * One rank with its service around it, for as long as a command takes.
 */
final class RankService {

	/** Leaves room for the JVM's own end inside the 5 s that are promised. */
	static final Duration CLOSING = Duration.ofMillis(4500);

	private final Class<?> application;

	private final List<String> arguments;

	private final Map<String, Object> defaults;

	private final boolean debug;

	/**
	 * A service that is not started yet.
	 * @param application the Spring application
	 * @param arguments properties of the command line
	 * @param defaults properties that hold where nothing else says otherwise
	 * @param debug whether to show the stack of a failure
	 */
	RankService(Class<?> application, List<String> arguments, Map<String, Object> defaults, boolean debug) {
		this.application = application;
		this.arguments = arguments;
		this.defaults = defaults;
		this.debug = debug;
	}

	/**
	 * Starts the service, does a part and closes the service again. A failure is told on
	 * stderr at once, before closing takes its time.
	 * @return the exit code
	 */
	int run(Part part) {
		ConfigurableApplicationContext context;
		try {
			context = start();
		}
		catch (RuntimeException ex) {
			return FailureMessage.tell(StartupFailures.explain(ex), this.debug, System.err);
		}
		int code = carryOut(part, context);
		UncaughtFailure.haltAfter(CLOSING, code);
		context.close();
		return code;
	}

	private ConfigurableApplicationContext start() {
		SpringApplication spring = new SpringApplication(this.application);
		spring.setDefaultProperties(this.defaults);
		spring.addListeners(new PropertyCheck(), new RankLogging());
		return spring.run(this.arguments.toArray(String[]::new));
	}

	private int carryOut(Part part, ConfigurableApplicationContext context) {
		try {
			return part.run(context);
		}
		catch (Exception | LinkageError ex) {
			return context.isActive() ? FailureMessage.tell(ex, this.debug, System.err) : cutOff(ex);
		}
	}

	/**
	 * A signal closes the service under a part that still runs, which then fails for no
	 * fault of its own.
	 */
	private int cutOff(Throwable failure) {
		System.err.println("tutti: stopped before it was done");
		if (this.debug) {
			failure.printStackTrace();
		}
		return ExitCodes.of(failure);
	}

	/** What a command does while its service runs. */
	@FunctionalInterface
	interface Part {

		/** Returns the exit code. */
		int run(ConfigurableApplicationContext context) throws Exception;

	}

}
