package io.tutti.service.rest;

import java.time.Duration;

import io.tutti.service.config.HttpProperties;
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
 * Configures the checks ahead of the controllers: the body limits before all other
 * filters, including the token filter, then the query check, then the limit on concurrent
 * flight recorder reads. Also reports errors of the web server as problems.
 */
@Configuration(proxyBeanMethods = false)
class GuardConfiguration implements WebMvcConfigurer {

	/** Enough for people and tools; more concurrent readers only wait for each other. */
	private static final int READERS = 4;

	private static final Duration READER_TIMEOUT = Duration.ofSeconds(5);

	private final String basePath;

	GuardConfiguration(HttpProperties properties) {
		this.basePath = properties.basePath();
	}

	@Override
	public void addInterceptors(InterceptorRegistry interceptors) {
		interceptors.addInterceptor(new QueryCheck()).addPathPatterns(this.basePath + "/**");
		interceptors.addInterceptor(new RecorderGate(READERS, READER_TIMEOUT))
			.addPathPatterns(this.basePath + "/flight-recorder/**");
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

	/** Shortens the web server's own wait for a byte of the body, which is one minute. */
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
