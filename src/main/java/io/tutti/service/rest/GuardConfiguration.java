package io.tutti.service.rest;

import java.time.Duration;

import org.apache.catalina.core.StandardHost;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Guards the interface before a controller is asked: bodies before anything else looks at
 * a request, its token included, then the query, then how many read the flight recorders;
 * and tells what the web server refuses.
 */
@Configuration(proxyBeanMethods = false)
class GuardConfiguration implements WebMvcConfigurer {

	/** Enough for people and tools; more at once only wait for each other. */
	private static final int READERS = 4;

	private static final Duration READERS_PATIENCE = Duration.ofSeconds(5);

	@Override
	public void addInterceptors(InterceptorRegistry interceptors) {
		interceptors.addInterceptor(new QueryCheck()).addPathPatterns(Api.ROOT + "**");
		interceptors.addInterceptor(new RecorderGate(READERS, READERS_PATIENCE))
			.addPathPatterns(Api.V1 + "/flight-recorder/**");
	}

	@Bean
	BodyLimits bodyLimits() {
		return BodyLimits.USUAL;
	}

	@Bean
	FilterRegistrationBean<BodyGuard> bodyGuard(BodyLimits limits) {
		FilterRegistrationBean<BodyGuard> registration = new FilterRegistrationBean<>(new BodyGuard(limits));
		registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
		return registration;
	}

	/** The web server itself waits a minute for a byte that never comes. */
	@Bean
	WebServerFactoryCustomizer<TomcatServletWebServerFactory> silentBodies(BodyLimits limits) {
		return (factory) -> factory.addConnectorCustomizers((connector) -> {
			if (connector.getProtocolHandler() instanceof AbstractHttp11Protocol<?> http) {
				http.setDisableUploadTimeout(false);
				http.setConnectionUploadTimeout(Math.toIntExact(limits.time().toMillis()));
			}
		});
	}

	@Bean
	WebServerFactoryCustomizer<TomcatServletWebServerFactory> webServerProblems(ProblemFactory problems,
			JsonMapper json) {
		return (factory) -> factory.addContextCustomizers((context) -> {
			if (context.getParent() instanceof StandardHost host) {
				host.setErrorReportValveClass(WebServerProblems.class.getName());
				host.getPipeline().addValve(new WebServerProblems(problems, json));
			}
		});
	}

}
