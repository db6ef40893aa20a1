package io.tutti.launch.standalone;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Supplier;

import io.tutti.BadConfigurationException;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.backend.Backends;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.SharedConfig;
import io.tutti.engine.backend.TransportChoice;
import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.elastic.ElasticSettings;
import io.tutti.launch.ElasticLaunchers;
import io.tutti.launch.ExposureCheck;
import io.tutti.launch.JobToken;
import io.tutti.launch.Ports;
import io.tutti.launch.ProcessProperties;
import io.tutti.launch.ResolutionException;
import io.tutti.launch.ResolvedRank;
import org.jspecify.annotations.Nullable;

/**
 * Reads the engine settings of a rank from properties. Unset properties have the
 * documented defaults.
 */
final class StandaloneSettings {

	private static final String MIN_RANKS = "tutti.elastic.min-ranks";

	private static final List<String> ELASTIC = List.of(MIN_RANKS, "tutti.elastic.max-ranks", "tutti.elastic.endpoints",
			"tutti.elastic.settle", "tutti.elastic.max-failures", "tutti.elastic.quorum");

	private static final String PORT = "tutti.transport.port";

	private final ProcessProperties properties;

	StandaloneSettings(ProcessProperties properties) {
		this.properties = properties;
	}

	/**
	 * The settings of a rank.
	 * @throws BadConfigurationException if a property is invalid, if the rendezvous would
	 * be reachable beyond this host without a token, if TLS or a network interface is
	 * configured, or an MPI library for a backend that uses none
	 */
	EngineSettings of(ResolvedRank resolved) {
		return checked(() -> {
			EngineSettings settings = read(resolved);
			Backends.requireLibraryUsed(settings);
			exposure(settings).requireSafeRendezvous(resolved.assignment(), settings.bindAddress());
			return settings;
		});
	}

	/**
	 * The settings of a rank whose job agrees on a secret without a token, as it does by
	 * an MPI library.
	 * @throws BadConfigurationException if a property is invalid
	 */
	EngineSettings ofAuthenticated(ResolvedRank resolved) {
		return checked(() -> read(resolved));
	}

	/**
	 * Refuses a misspelt property or variable, which would have no effect.
	 * @throws BadConfigurationException if there is one
	 */
	void requireSpelling() {
		checked(() -> {
			this.properties.requireSpelling();
			return this.properties;
		});
	}

	private static <T> T checked(Supplier<T> settings) {
		try {
			return settings.get();
		}
		catch (BadConfigurationException ex) {
			throw ex;
		}
		catch (IllegalArgumentException ex) {
			throw new BadConfigurationException(ex.getMessage(), ex);
		}
	}

	private EngineSettings read(ResolvedRank resolved) {
		EngineSettings defaults = EngineSettings.DEFAULTS;
		rejectSpringProperties();
		String advertisedHost = textIfPresent("tutti.transport.advertised-host");
		if (advertisedHost != null) {
			EngineSettings.requireName("advertised host", advertisedHost);
		}
		return new EngineSettings(this.properties.text("tutti.backend", defaults.backend()),
				EngineSettings.requireName("job id", this.properties.text("tutti.rendezvous.job-id", defaults.jobId())),
				JobToken.of(this.properties), resolved.generation(), textIfPresent("tutti.rendezvous.bind-address"),
				advertisedHost, defaults.dataAddress(), dataPort(resolved.assignment().localRank()),
				this.properties.text("tutti.transport.congestion-control", defaults.congestionControl()),
				sharedConfig(), timeouts(), textIfPresent("tutti.mpi.library"));
	}

	/**
	 * The settings of an elastic job.
	 * @throws BadConfigurationException if a property is missing or invalid, or if the
	 * job would be reachable beyond this host without a token
	 * @throws ResolutionException if the launcher ends the remaining ranks when one is
	 * lost
	 */
	ElasticSettings elastic(ResolvedRank resolved, EngineSettings engine) {
		return checked(() -> {
			ElasticSettings settings = readElastic(resolved).within(engine.timeouts());
			exposure(engine).requireSafeRendezvous(settings, engine);
			return settings;
		});
	}

	private ElasticSettings readElastic(ResolvedRank resolved) {
		String minRanks = this.properties.text(MIN_RANKS);
		if (minRanks == null) {
			throw new IllegalArgumentException(MIN_RANKS + " is not set: an elastic group needs its minimum number of"
					+ " ranks, as launch --min-ranks sets it");
		}
		ElasticLaunchers.requireSupported(minRanks, resolved, this.properties.variables());
		List<Endpoint> endpoints = ElasticSettings.endpoints(this.properties.text("tutti.elastic.endpoints", ""));
		return new ElasticSettings(number(MIN_RANKS, 1),
				this.properties.duration("tutti.elastic.settle", Duration.ZERO),
				number("tutti.elastic.max-failures", 0),
				choice("tutti.elastic.quorum", ElasticSettings.QuorumRule.LIVE, "live or strict"),
				ElasticSettings.limited(endpoints, number("tutti.elastic.max-ranks", endpoints.size()),
						resolved.assignment().worldSize()));
	}

	/**
	 * Refuses the properties of an elastic job for a group that ends when a rank is lost.
	 * @throws ResolutionException if one is set
	 */
	void requireNotElastic() {
		for (String name : ELASTIC) {
			String value = this.properties.text(name);
			if (value != null && !value.isBlank()) {
				throw new ResolutionException(name, value, "no value, since this group ends when a rank is lost;"
						+ " join with ElasticGroup.fromEnvironment to continue, or unset it (launch sets it with"
						+ " --min-ranks)");
			}
		}
	}

	private <E extends Enum<E>> E choice(String name, E otherwise, String expected) {
		String text = this.properties.text(name, otherwise.name()).toLowerCase(Locale.ROOT);
		return Arrays.stream(otherwise.getDeclaringClass().getEnumConstants())
			.filter((value) -> value.name().toLowerCase(Locale.ROOT).equals(text))
			.findFirst()
			.orElseThrow(() -> ProcessProperties.invalid(name, text, expected));
	}

	private int number(String name, int otherwise) {
		return Objects.requireNonNullElse(this.properties.number(name, "a whole number"), otherwise);
	}

	private SharedConfig sharedConfig() {
		String algorithms = this.properties.text("tutti.collective.algorithms");
		return new SharedConfig(choice("tutti.transport.kind", TransportChoice.AUTO, "auto, tcp or shm"),
				(algorithms != null) ? AlgorithmOverrides.from(algorithms) : AlgorithmOverrides.NONE,
				this.properties.flag("tutti.transport.cross-memory-attach", true));
	}

	private Timeouts timeouts() {
		Timeouts defaults = Timeouts.DEFAULTS;
		Duration heartbeat = this.properties.duration("tutti.timeout.heartbeat", defaults.heartbeat());
		return new Timeouts(this.properties.duration("tutti.timeout.rendezvous", defaults.rendezvous()),
				this.properties.duration("tutti.timeout.collective", defaults.collective()), heartbeat,
				this.properties.duration("tutti.timeout.abort", Timeouts.defaultAbort(heartbeat)),
				this.properties.duration("tutti.timeout.drain", defaults.drain()));
	}

	private int dataPort(int localRank) {
		return Ports.plus(PORT, this.properties.port(PORT, EngineSettings.DEFAULTS.dataPort()), localRank);
	}

	/** The text of a property, {@code null} if it is not set or blank. */
	private @Nullable String textIfPresent(String name) {
		String value = this.properties.text(name, "");
		return value.isBlank() ? null : value;
	}

	private ExposureCheck exposure(EngineSettings settings) {
		return new ExposureCheck(settings.token() != null || this.properties.flag("tutti.security.anonymous"));
	}

	/** Rejects properties that would silently have no effect. */
	private void rejectSpringProperties() {
		reject("tutti.tls.bundle", "names a Spring SSL bundle", " for connections without TLS");
		reject("tutti.tls.peer-name", "is for certificates of a Spring SSL bundle", " for connections without TLS");
		reject("tutti.network.interface", "selects the address of this rank",
				" and set tutti.transport.advertised-host to that address");
	}

	private void reject(String name, String purpose, String unset) {
		String value = this.properties.text(name);
		if (value != null && !value.isBlank()) {
			throw new IllegalArgumentException(name + "=" + value + " " + purpose
					+ ", which needs Spring Boot: use Spring Boot, or leave the property unset" + unset);
		}
	}

}
