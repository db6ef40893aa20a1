package io.tutti.service.config;

import java.util.HashMap;
import java.util.Map;

import io.tutti.engine.RankAssignment;
import io.tutti.launch.RankResolution;
import io.tutti.launch.ResolutionException;
import io.tutti.launch.ResolutionSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.context.logging.LoggingApplicationListener;
import org.springframework.context.ApplicationListener;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/**
 * Sets a rank's default log levels, and provides the rank to log lines as
 * {@code tutti.log.rank}. The command reports start-up failures, so the framework's own
 * report is turned off.
 */
public final class RankLogging implements ApplicationListener<ApplicationEnvironmentPreparedEvent>, Ordered {

	/** Whether ranks other than 0 log only warnings and errors. */
	public static final String QUIET_OTHERS = "tutti.log.quiet-others";

	/** Name of the property source that this class adds. */
	static final String SOURCE = "tuttiLogging";

	/** The OTLP endpoint; tracing is off unless it is set. */
	private static final String TRACES_GO_TO = "management.opentelemetry.tracing.export.otlp.endpoint";

	/** The rank, for log lines. */
	static final String RANK = "tutti.log.rank";

	/** The world size, for log lines. */
	static final String WORLD_SIZE = "tutti.log.world-size";

	@Override
	public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
		ConfigurableEnvironment environment = event.getEnvironment();
		environment.getPropertySources().addLast(new MapPropertySource(SOURCE, defaults(environment)));
	}

	private static Map<String, Object> defaults(ConfigurableEnvironment environment) {
		Map<String, Object> defaults = new HashMap<>();
		RankAssignment assignment = assignment(environment);
		int rank = (assignment != null) ? assignment.rank() : -1;
		boolean quiet = rank > 0 && environment.getProperty(QUIET_OTHERS, Boolean.class, false);
		defaults.put(RANK, (assignment != null) ? rank : "?");
		defaults.put(WORLD_SIZE, (assignment != null) ? assignment.worldSize() : "?");
		defaults.put("logging.level.root", "warn");
		if (!environment.containsProperty(TRACES_GO_TO)) {
			defaults.put("management.opentelemetry.enabled", false);
		}
		defaults.put("logging.level.io.tutti", quiet ? "warn" : "info");
		defaults.put("logging.level.org.springframework.boot.SpringApplication", "off");
		defaults.put("logging.level.org.springframework.boot.diagnostics.LoggingFailureAnalysisReporter", "off");
		defaults.put("logging.level.org.springframework.boot.web.server.servlet.context", "error");
		return defaults;
	}

	/** {@code null} if the rank cannot be resolved; start-up then fails later. */
	private static @Nullable RankAssignment assignment(ConfigurableEnvironment environment) {
		try {
			return RankResolution.resolve(System.getenv(), ResolutionSettings.from(environment::getProperty))
				.assignment();
		}
		catch (ResolutionException ex) {
			return null;
		}
	}

	/** Runs after the configuration is read and before logging is set up from it. */
	@Override
	public int getOrder() {
		return LoggingApplicationListener.DEFAULT_ORDER - 1;
	}

}
