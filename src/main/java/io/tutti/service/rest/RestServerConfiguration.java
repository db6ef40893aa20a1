package io.tutti.service.rest;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * The parts of Tutti's own web server around the REST interface, for every path: access,
 * limits on connections, headers and bodies, errors as problems, and the OpenAPI
 * description.
 */
@Configuration(proxyBeanMethods = false)
@Import({ AccessFilter.class, ProblemErrorController.class, ProblemFactory.class, ServerProblemAdvice.class,
		WebServerConfiguration.class, ApiDescription.class, HealthPaths.class })
public class RestServerConfiguration {

	@Bean
	BodyLimits bodyLimits() {
		return BodyLimits.USUAL;
	}

}
