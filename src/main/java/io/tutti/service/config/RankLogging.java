package io.tutti.service.config;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.context.event.ApplicationFailedEvent;
import org.springframework.boot.context.event.SpringApplicationEvent;
import org.springframework.boot.context.logging.LoggingApplicationListener;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.context.ApplicationListener;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/**
 * Sets the default log levels of a rank that a command runs. The command reports start-up
 * failures, so the framework's own report is turned off.
 */
public final class RankLogging implements ApplicationListener<SpringApplicationEvent>, Ordered {

	/** Whether ranks other than 0 log only warnings and errors. */
	public static final String QUIET_OTHERS = "tutti.log.quiet-others";

	/** Name of the property source that this class adds. */
	static final String SOURCE = "tuttiLogging";

	/** The OTLP endpoint; tracing is off unless it is set. */
	private static final String TRACES_GO_TO = "management.opentelemetry.tracing.export.otlp.endpoint";

	/**
	 * Turned off after the failure, which may have come before any level is set, as from
	 * a configuration file.
	 */
	private static final List<String> FAILURE_REPORTS = List.of("org.springframework.boot.SpringApplication",
			"org.springframework.boot.diagnostics.LoggingFailureAnalysisReporter");

	@Override
	public void onApplicationEvent(SpringApplicationEvent event) {
		if (event instanceof ApplicationEnvironmentPreparedEvent prepared) {
			ConfigurableEnvironment environment = prepared.getEnvironment();
			environment.getPropertySources().addLast(new MapPropertySource(SOURCE, defaults(environment)));
		}
		else if (event instanceof ApplicationFailedEvent) {
			LoggingSystem logging = LoggingSystem.get(RankLogging.class.getClassLoader());
			FAILURE_REPORTS.forEach((logger) -> logging.setLogLevel(logger, LogLevel.OFF));
		}
	}

	private static Map<String, Object> defaults(ConfigurableEnvironment environment) {
		Map<String, Object> defaults = new HashMap<>();
		boolean first = Set.of("0", LoggedRank.UNKNOWN)
			.contains(environment.getProperty(LoggedRank.RANK, LoggedRank.UNKNOWN));
		boolean quiet = Switch.isOn(environment, QUIET_OTHERS, false) && !first;
		defaults.put("logging.level.root", "warn");
		if (!environment.containsProperty(TRACES_GO_TO)) {
			defaults.put("management.opentelemetry.enabled", false);
		}
		defaults.put("logging.level.io.tutti", quiet ? "warn" : "info");
		defaults.put("logging.level.org.springframework.boot.web.server.servlet.context", "error");
		return defaults;
	}

	/** Runs after the configuration is read and before logging is set up from it. */
	@Override
	public int getOrder() {
		return LoggingApplicationListener.DEFAULT_ORDER - 1;
	}

}
