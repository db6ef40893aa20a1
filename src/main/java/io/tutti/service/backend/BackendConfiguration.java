package io.tutti.service.backend;

import io.tutti.ProcessGroup;
import io.tutti.engine.backend.Backend;
import io.tutti.engine.backend.Backends;
import io.tutti.engine.backend.mpi.Communicator;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Profile;
import org.springframework.core.env.Environment;

/**
 * The backend of the active profile: by default {@code tcp}, the built-in algorithms.
 */
@Configuration(proxyBeanMethods = false)
public class BackendConfiguration {

	@Bean("tuttiBackend")
	@ConditionalOnMissingBean
	Backend backend(Environment environment) {
		return Backends
			.of(Backends.names().stream().filter(environment::matchesProfiles).findFirst().orElse(Backends.TCP));
	}

	/** The group of all ranks under the names of MPI. Does not own the group. */
	@Lazy
	@Profile(Backends.MPI)
	@Bean(name = "tuttiCommunicator", destroyMethod = "")
	@ConditionalOnMissingBean
	Communicator communicator(ProcessGroup group) {
		return Communicator.over(group);
	}

}
