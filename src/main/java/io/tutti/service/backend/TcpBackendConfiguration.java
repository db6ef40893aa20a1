package io.tutti.service.backend;

import io.tutti.engine.backend.Backend;
import io.tutti.engine.backend.Backends;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

/**
 * The built-in algorithms: profile {@code tcp}, and the default.
 */
@Configuration(proxyBeanMethods = false)
@Profile({ Backends.TCP, "!" + Backends.MPI + " & !" + Backends.NCCL })
public class TcpBackendConfiguration {

	@Bean
	@ConditionalOnMissingBean
	Backend tcpBackend() {
		return Backends.of(Backends.TCP);
	}

}
