package io.tutti.service.rest;

import io.tutti.service.autoconfigure.ProcessGroupAutoConfiguration;
import io.tutti.service.config.ConditionalOnSwitch;
import io.tutti.service.config.HttpCollectivesProperties;
import io.tutti.service.config.HttpProperties;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.http.ClientConnections;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/**
 * The REST interface, in Tutti's own server or beside an application's own controllers.
 */
@AutoConfiguration(after = { ProcessGroupAutoConfiguration.class, RestSecurityAutoConfiguration.class,
		WebMvcAutoConfiguration.class })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({ DispatcherServlet.class, JsonMapper.class })
@ConditionalOnBean(GroupLifecycle.class)
@ConditionalOnSwitch("tutti.http.enabled")
@EnableConfigurationProperties({ HttpProperties.class, HttpCollectivesProperties.class })
@Import({ BarrierController.class, CollectiveController.class, ControlController.class, FlightRecorderController.class,
		GroupController.class, RollCallController.class, HttpCollectives.class, LabelledBarriers.class,
		ProblemFactory.class })
public class RestAutoConfiguration {

	@Bean("tuttiRestInterceptors")
	RestInterceptors restInterceptors(HttpProperties properties, ObjectProvider<AccessInterceptor> access,
			ObjectProvider<RequestMappingHandlerMapping> mappings) {
		return new RestInterceptors(properties, access.getIfAvailable(), mappings);
	}

	@Bean("tuttiProblemAdvice")
	@ConditionalOnMissingBean
	ProblemAdvice problemAdvice(ProblemFactory problems) {
		return new ProblemAdvice(problems);
	}

	/**
	 * Without it, a call without a round is not withdrawn when its client disconnects,
	 * and a malformed query string is an internal error.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(TomcatServletWebServerFactory.class)
	static class TomcatConfiguration {

		@Bean("tuttiClientConnections")
		ClientConnections clientConnections() {
			return new ClientConnections();
		}

		@Bean("tuttiTomcatProblemAdvice")
		@ConditionalOnMissingBean(ProblemAdvice.class)
		TomcatProblemAdvice tomcatProblemAdvice(ProblemFactory problems) {
			return new TomcatProblemAdvice(problems);
		}

	}

}
