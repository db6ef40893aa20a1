package io.tutti.service.rest;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;

/**
 * Applies the access filter to every web server of this rank: that of the interface and,
 * if the actuator has its own port, that of the actuator. Spring builds the latter from
 * the classes listed in {@code META-INF/spring}, in every application that contains this
 * jar and an actuator. An application other than Tutti's own has no such filter.
 */
@ManagementContextConfiguration(proxyBeanMethods = false)
@ConditionalOnBean(AccessFilter.class)
class ManagementAccess {

	/** Runs after the filters that apply forwarded headers. */
	@Bean
	FilterRegistrationBean<AccessFilter> accessBeforeEveryRequest(AccessFilter filter) {
		return new FilterRegistrationBean<>(filter);
	}

}
