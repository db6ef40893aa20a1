package io.tutti.service.backend;

import io.tutti.engine.backend.Backend;
import io.tutti.engine.backend.Backends;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

/**
 * Collectives on GPUs: profile {@code nccl}.
 */
@Configuration(proxyBeanMethods = false)
@Profile(Backends.NCCL)
public class NcclBackendConfiguration {

	@Bean
	@ConditionalOnMissingBean
	Backend ncclBackend() {
		return Backends.of(Backends.NCCL);
	}

}
