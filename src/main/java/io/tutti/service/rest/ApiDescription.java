package io.tutti.service.rest;

import io.swagger.v3.oas.models.Components;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.info.Info;
import io.swagger.v3.oas.models.info.License;
import io.swagger.v3.oas.models.security.SecurityScheme;
import io.swagger.v3.oas.models.servers.Server;
import org.jspecify.annotations.Nullable;
import org.springdoc.core.customizers.OperationCustomizer;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * OpenAPI description at {@code /v3/api-docs}, built on first access.
 */
@Lazy
@Configuration(proxyBeanMethods = false)
class ApiDescription {

	private static final String LIBRARY = "org.springdoc.";

	@Bean
	OpenAPI tuttiApi() {
		return new OpenAPI()
			.info(new Info().title("Tutti")
				.version(Api.VERSION)
				.description("What an operator, or any process beside a rank, asks of that rank. Health and meters are"
						+ " under /actuator, the live page at /. Requests of web pages of another origin that change"
						+ " something, and all under a host that is not this rank's, are refused with 403.")
				.license(new License().name("Apache-2.0").identifier("Apache-2.0")))
			.addServersItem(new Server().url("/").description("This rank"))
			.components(new Components().addSchemas(ProblemResponses.SCHEMA, ProblemResponses.schema())
				.addSecuritySchemes(ProblemResponses.TOKEN,
						new SecurityScheme().type(SecurityScheme.Type.HTTP)
							.scheme("bearer")
							.description("The job's token, where one is set")));
	}

	@Bean
	OperationCustomizer problemResponses() {
		return (operation, _) -> ProblemResponses.addTo(operation);
	}

	/** Initialises the OpenAPI library lazily, so that a rank is ready sooner. */
	@Bean
	static BeanFactoryPostProcessor describeWhenAsked() {
		return (beans) -> {
			for (String name : beans.getBeanDefinitionNames()) {
				String type = beans.getBeanDefinition(name).getBeanClassName();
				String factory = beans.getBeanDefinition(name).getFactoryBeanName();
				if (isLibrary(type) || isLibrary(factory)) {
					beans.getBeanDefinition(name).setLazyInit(true);
				}
			}
		};
	}

	private static boolean isLibrary(@Nullable String name) {
		return name != null && name.startsWith(LIBRARY);
	}

}
