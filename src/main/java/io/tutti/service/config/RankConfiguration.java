package io.tutti.service.config;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.Backends;
import io.tutti.engine.backend.Conduct;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.launch.RankResolution;
import io.tutti.launch.ResolutionSettings;
import io.tutti.launch.ResolvedRank;

import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * Who this rank is and how it joins, from environment variables and properties.
 */
@Configuration(proxyBeanMethods = false)
public class RankConfiguration {

	@Bean
	ResolvedRank resolvedRank(Environment environment) {
		return RankResolution.resolve(System.getenv(), ResolutionSettings.from(environment::getProperty));
	}

	@Bean
	RankAssignment rankAssignment(ResolvedRank resolved) {
		return resolved.assignment();
	}

	@Bean
	Timeouts timeouts(TimeoutProperties properties) {
		return properties.timeouts();
	}

	@Bean
	SharedToken sharedToken(SecurityProperties properties) {
		return SharedToken.of(properties);
	}

	@Bean
	ExposureCheck exposureCheck(SharedToken token, SecurityProperties properties) {
		return new ExposureCheck(token, properties);
	}

	@Bean
	EngineSettings engineSettings(ResolvedRank resolved, RendezvousProperties rendezvous, TransportProperties transport,
			NetworkProperties network, CollectiveProperties collective, SharedToken token, Timeouts timeouts,
			ExposureCheck exposure, MpiProperties mpi, Environment environment) {
		exposure.requireSafeMeeting(resolved.assignment(), rendezvous.bindAddress());
		String dataAddress = dataAddress(network, resolved.assignment(), exposure);
		String advertised = transport.advertisedHost();
		EngineSettings settings = new EngineSettings(BackendProfile.of(environment.getActiveProfiles()),
				rendezvous.jobId(), token.secret(), resolved.generation(), rendezvous.bindAddress(),
				(advertised != null) ? advertised : dataAddress, dataAddress, transport.port(),
				transport.congestionControl(), new Conduct(transport.kind(), collective.algorithms()), timeouts,
				mpi.library());
		Backends.requireAvailable(settings);
		return settings;
	}

	/** Where data connections are accepted, {@code null} for wherever ranks meet. */
	private static @Nullable String dataAddress(NetworkProperties network, RankAssignment assignment,
			ExposureCheck exposure) {
		String wanted = network.wanted();
		if (wanted == null) {
			return null;
		}
		String address = new NetworkSelection(HostAddress.all()).select(wanted, assignment.masterAddress()).text();
		exposure.requireSafeMeeting(assignment, address);
		return address;
	}

}
