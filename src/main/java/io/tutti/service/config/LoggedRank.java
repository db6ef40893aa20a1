package io.tutti.service.config;

import java.util.Map;

import io.tutti.engine.RankAssignment;
import io.tutti.launch.RankResolution;
import io.tutti.launch.ResolutionException;
import io.tutti.launch.ResolutionSettings;

import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/**
 * Provides the rank and the world size to log lines, as {@code tutti.log.rank} and
 * {@code tutti.log.world-size}, in every application that has the library.
 */
public final class LoggedRank implements EnvironmentPostProcessor, Ordered {

	/** Name of the property source that this class adds. */
	static final String SOURCE = "tuttiRank";

	/** The rank, for log lines. */
	public static final String RANK = "tutti.log.rank";

	/** The world size, for log lines. */
	static final String WORLD_SIZE = "tutti.log.world-size";

	/** Both values if the rank cannot be resolved; start-up then fails later. */
	static final String UNKNOWN = "?";

	@Override
	public void postProcessEnvironment(ConfigurableEnvironment environment, SpringApplication application) {
		if (Switch.isOn(environment, "tutti.enabled", true)) {
			environment.getPropertySources().addLast(new MapPropertySource(SOURCE, resolved(environment)));
		}
	}

	private static Map<String, Object> resolved(ConfigurableEnvironment environment) {
		try {
			RankAssignment assignment = RankResolution
				.resolve(System.getenv(), ResolutionSettings.from(environment::getProperty))
				.assignment();
			return Map.of(RANK, assignment.rank(), WORLD_SIZE, assignment.worldSize());
		}
		catch (ResolutionException ex) {
			return Map.of(RANK, UNKNOWN, WORLD_SIZE, UNKNOWN);
		}
	}

	/** After the configuration files are read. */
	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE;
	}

}
