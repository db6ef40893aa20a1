package io.tutti.service.config;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.BackendUnavailableException;
import io.tutti.engine.backend.Availability;
import io.tutti.engine.backend.Backend;
import io.tutti.engine.backend.Backends;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.SharedConfig;
import io.tutti.engine.device.HostFallback;
import io.tutti.launch.ExposureCheck;
import io.tutti.launch.Ports;
import io.tutti.launch.RankResolution;
import io.tutti.launch.ResolutionSettings;
import io.tutti.launch.ResolvedRank;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;

/**
 * Defines this rank's assignment and engine settings from environment variables and
 * properties.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties({ CollectiveProperties.class, ElasticProperties.class, FlightRecorderProperties.class,
		GpuProperties.class, MpiProperties.class, NetworkProperties.class, RendezvousProperties.class,
		SecurityProperties.class, TimeoutProperties.class, TlsProperties.class, TransportProperties.class })
public class RankConfiguration {

	private static final Logger log = LoggerFactory.getLogger(RankConfiguration.class);

	/** Fails if a property is set that does not exist. */
	RankConfiguration(ConfigurableEnvironment environment) {
		KnownProperties.ofTutti().require(environment);
	}

	@Bean("tuttiResolvedRank")
	ResolvedRank resolvedRank(Environment environment) {
		return RankResolution.resolve(System.getenv(), ResolutionSettings.from(environment::getProperty));
	}

	@Bean("tuttiRankAssignment")
	RankAssignment rankAssignment(ResolvedRank resolved) {
		return resolved.assignment();
	}

	@Bean("tuttiTimeouts")
	Timeouts timeouts(TimeoutProperties properties) {
		return properties.timeouts();
	}

	@Bean("tuttiSharedToken")
	SharedToken sharedToken(SecurityProperties properties) {
		return SharedToken.of(properties);
	}

	@Bean("tuttiRankTls")
	RankTls rankTls(TlsProperties properties, ObjectProvider<SslBundles> bundles) {
		return RankTls.of(properties, bundles);
	}

	@Bean("tuttiHostFallback")
	HostFallback hostFallback(GpuProperties properties) {
		return properties.fallback();
	}

	@Bean("tuttiExposureCheck")
	ExposureCheck exposureCheck(SharedToken token, SecurityProperties properties) {
		return new ExposureCheck(token.isSet() || properties.anonymous());
	}

	@Bean("tuttiEngineSettings")
	EngineSettings engineSettings(ResolvedRank resolved, RendezvousProperties rendezvous, TransportProperties transport,
			NetworkProperties network, CollectiveProperties collective, SharedToken token, Timeouts timeouts,
			ExposureCheck exposure, MpiProperties mpi, RankTls tls, Backend backend) {
		exposure.requireSafeRendezvous(resolved.assignment(), rendezvous.bindAddress());
		String dataAddress = dataAddress(network, resolved.assignment(), exposure);
		String advertised = transport.advertisedHost();
		EngineSettings settings = new EngineSettings(backend.name(), rendezvous.jobId(), token.secret(),
				resolved.generation(), rendezvous.bindAddress(), (advertised != null) ? advertised : dataAddress,
				dataAddress, Ports.plus("tutti.transport.port", transport.port(), resolved.assignment().localRank()),
				transport.congestionControl(),
				new SharedConfig(transport.kind(), collective.algorithms(), transport.crossMemoryAttach()), timeouts,
				mpi.library(), tls.tls());
		Backends.requireLibraryUsed(settings);
		requireAvailable(backend, settings, resolved.assignment());
		warnOfUnencryptedData(settings);
		return settings;
	}

	private static void requireAvailable(Backend backend, EngineSettings settings, RankAssignment assignment) {
		Availability found = backend.availability(settings);
		if (!found.available()) {
			throw new BackendUnavailableException(backend.name(), found.reason(), String.valueOf(found.action()))
				.onRank(assignment.rank(), assignment.worldSize());
		}
	}

	/**
	 * Warns of unencrypted traffic: MPI libraries and NCCL have their own connections.
	 */
	private static void warnOfUnencryptedData(EngineSettings settings) {
		if (settings.tls() == null) {
			return;
		}
		if (settings.mpiLibrary() != null) {
			log.warn("tutti.tls.bundle applies to the control plane only: the MPI library {} sends data"
					+ " unencrypted unless it encrypts them itself", settings.mpiLibrary());
		}
		else if (settings.backend().equals(Backends.NCCL)) {
			log.warn("tutti.tls.bundle does not apply to NCCL: collectives on GPU memory are unencrypted");
		}
	}

	/**
	 * The address that accepts data connections, {@code null} for the engine's default.
	 */
	private static @Nullable String dataAddress(NetworkProperties network, RankAssignment assignment,
			ExposureCheck exposure) {
		String wanted = network.wanted();
		if (wanted == null) {
			return null;
		}
		String address = new NetworkSelection(HostAddress.all()).select(wanted, assignment.masterAddress()).text();
		exposure.requireSafeRendezvous(assignment, address);
		return address;
	}

}
