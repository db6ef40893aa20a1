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

/**
 * The MPI subset: profile {@code mpi}.
 */
@Configuration(proxyBeanMethods = false)
@Profile(Backends.MPI)
public class MpiBackendConfiguration {

	@Bean
	@ConditionalOnMissingBean
	Backend mpiBackend() {
		return Backends.of(Backends.MPI);
	}

	/** The group of all ranks under the names of MPI. Does not own the group. */
	@Lazy
	@Bean(destroyMethod = "")
	@ConditionalOnMissingBean
	Communicator communicator(ProcessGroup group) {
		return Communicator.over(group);
	}

}
