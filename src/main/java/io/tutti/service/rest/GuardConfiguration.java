package io.tutti.service.rest;

import org.apache.catalina.core.StandardHost;
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
 * a request, its token included, then the query; and tells what the web server refuses.
 */
@Configuration(proxyBeanMethods = false)
class GuardConfiguration implements WebMvcConfigurer {

	@Override
	public void addInterceptors(InterceptorRegistry interceptors) {
		interceptors.addInterceptor(new QueryCheck()).addPathPatterns(Api.ROOT + "**");
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
