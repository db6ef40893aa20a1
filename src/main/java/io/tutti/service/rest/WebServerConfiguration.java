package io.tutti.service.rest;

import io.tutti.service.http.HttpLimits;
import org.apache.catalina.core.StandardHost;
import org.apache.coyote.ContinueResponseTiming;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;

/**
 * The settings of Tutti's own web server, on each of its ports: limits on connections and
 * headers, limits on bodies before all other filters, and its own errors as problems.
 */
@Configuration(proxyBeanMethods = false)
@Import(HttpLimits.class)
class WebServerConfiguration {

	@Bean
	FilterRegistrationBean<BodyGuard> bodyGuard(BodyLimits limits) {
		FilterRegistrationBean<BodyGuard> registration = new FilterRegistrationBean<>(new BodyGuard(limits));
		registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
		return registration;
	}

	/**
	 * Shortens the web server's own wait for a byte of the body, which is one minute. The
	 * web server reads no forms, since it would read them without the limits of bodies.
	 * It asks a client for its body only when the body is read, so that a refused client
	 * sends none.
	 */
	@Bean
	WebServerFactoryCustomizer<TomcatServletWebServerFactory> silentBodies(BodyLimits limits) {
		return (factory) -> factory.addConnectorCustomizers((connector) -> {
			connector.setParseBodyMethods("");
			if (connector.getProtocolHandler() instanceof AbstractHttp11Protocol<?> http) {
				http.setDisableUploadTimeout(false);
				http.setConnectionUploadTimeout(Math.toIntExact(limits.time().toMillis()));
				http.setContinueResponseTiming(ContinueResponseTiming.ON_REQUEST_BODY_READ.toString());
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
