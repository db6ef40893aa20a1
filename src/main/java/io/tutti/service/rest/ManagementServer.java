package io.tutti.service.rest;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/**
 * Applies the access filter and the settings of Tutti's own web server to the actuator's
 * own port too, if it has one. Spring builds that server from the classes listed in
 * {@code META-INF/spring}, in every application that contains this jar and an actuator.
 * An application other than Tutti's own has no such filter, and keeps its own settings.
 */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
@ConditionalOnBean(AccessFilter.class)
@Import(WebServerConfiguration.class)
class ManagementServer {

	/** Spring registers a filter only with the server of the filter's own context. */
	@Bean
	FilterRegistrationBean<AccessFilter> accessToActuator(AccessFilter filter) {
		return new FilterRegistrationBean<>(filter);
	}

}
