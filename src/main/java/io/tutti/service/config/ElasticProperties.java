package io.tutti.service.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.tutti.BadConfigurationException;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.elastic.ElasticSettings;
import io.tutti.engine.elastic.ElasticSettings.QuorumRule;
import io.tutti.launch.ElasticLaunchers;
import io.tutti.launch.ExposureCheck;
import io.tutti.launch.ResolvedRank;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Options of a job that continues without lost ranks.
 *
 * @param minRanks fewest ranks with which the job continues after a loss; by default the
 * job ends when a rank is lost
 * @param maxRanks most ranks of the job; by default the number of endpoints
 * @param settle how long the remaining ranks wait for more ranks before they continue,
 * less than {@code tutti.timeout.rendezvous}
 * @param maxFailures losses of ranks that a process sees before it ends, 0 for no limit;
 * a process that joins counts from 0
 * @param quorum members of the last generation that count for a quorum: {@code live} for
 * those that are not known to be dead, {@code strict} for all, where middleboxes reset
 * connections
 * @param endpoints {@code host:port} at which each rank listens for formations, by rank;
 * set by {@code launch --min-ranks}
 */
@ConfigurationProperties("tutti.elastic")
public record ElasticProperties(@Nullable Integer minRanks, @Nullable Integer maxRanks,
		@DefaultValue("0s") Duration settle, @DefaultValue("0") int maxFailures,
		@DefaultValue("live") QuorumRule quorum, @Nullable List<String> endpoints) {

	/**
	 * The settings for the engine, {@code null} for a job that ends when a rank is lost.
	 * @throws io.tutti.launch.ResolutionException if the launcher ends the remaining
	 * ranks when one is lost
	 * @throws io.tutti.BackendUnavailableException if the backend cannot be elastic
	 * @throws BadConfigurationException if a value is out of range, or set without a
	 * minimum number of ranks, or if the job would be reachable beyond this host without
	 * a token
	 */
	public @Nullable ElasticSettings settings(ResolvedRank resolved, EngineSettings engine, ExposureCheck exposure) {
		if (this.minRanks != null) {
			ElasticLaunchers.requireSupported(String.valueOf(this.minRanks), resolved, System.getenv());
			ElasticSettings.requireSupported(engine);
		}
		ElasticSettings settings = settings(resolved.assignment().worldSize(), engine.timeouts());
		if (settings != null) {
			exposure.requireSafeRendezvous(settings, engine);
		}
		return settings;
	}

	/**
	 * The settings for the engine, {@code null} for a job that ends when a rank is lost.
	 * @param worldSize number of ranks that the launcher started
	 * @param timeouts limits that the values must fit into
	 * @throws BadConfigurationException if a value is out of range, or set without a
	 * minimum number of ranks
	 */
	@Nullable ElasticSettings settings(int worldSize, Timeouts timeouts) {
		if (this.minRanks == null) {
			requireOthersUnset();
			return null;
		}
		try {
			List<Endpoint> all = ((this.endpoints != null) ? this.endpoints : List.<String>of()).stream()
				.map(Endpoint::parse)
				.toList();
			return new ElasticSettings(this.minRanks, this.settle, this.maxFailures, this.quorum,
					ElasticSettings.limited(all, (this.maxRanks != null) ? this.maxRanks : all.size(), worldSize))
				.within(timeouts);
		}
		catch (IllegalArgumentException ex) {
			throw new BadConfigurationException(String.valueOf(ex.getMessage()),
					"Correct the properties of the elastic job, or unset tutti.elastic.min-ranks", ex);
		}
	}

	/** Without a minimum number of ranks the other properties would have no effect. */
	private void requireOthersUnset() {
		List<String> set = new ArrayList<>();
		if (this.maxRanks != null) {
			set.add("tutti.elastic.max-ranks");
		}
		if (!this.settle.isZero()) {
			set.add("tutti.elastic.settle");
		}
		if (this.maxFailures != 0) {
			set.add("tutti.elastic.max-failures");
		}
		if (this.quorum != QuorumRule.LIVE) {
			set.add("tutti.elastic.quorum");
		}
		if (this.endpoints != null && !this.endpoints.isEmpty()) {
			set.add("tutti.elastic.endpoints");
		}
		if (!set.isEmpty()) {
			throw new BadConfigurationException(
					"tutti.elastic.min-ranks is not set, and without it the job ends when a rank is lost: "
							+ String.join(", ", set) + " would have no effect",
					"Set tutti.elastic.min-ranks, or unset the others");
		}
	}

	/**
	 * Refuses the properties for a command whose group cannot form again.
	 * @throws BadConfigurationException if the minimum number of ranks or another
	 * property is set
	 */
	public void requireUnset(String command) {
		if (this.minRanks != null) {
			throw new BadConfigurationException(
					command + " cannot continue without a lost rank, and tutti.elastic.min-ranks=" + this.minRanks
							+ " asks for it",
					"Unset tutti.elastic.min-ranks");
		}
		requireOthersUnset();
	}

}
