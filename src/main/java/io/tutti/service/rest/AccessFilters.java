package io.tutti.service.rest;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;

/**
 * Applies the checks of host, origin and token to every web server of this rank: that of
 * the interface and, if the actuator has its own port, that of the actuator. Spring
 * builds the latter from the classes listed in {@code META-INF/spring}, in every
 * application that contains this jar and an actuator. An application other than Tutti's
 * own has no such filters and guards its endpoints itself.
 */
@ManagementContextConfiguration(proxyBeanMethods = false)
@ConditionalOnBean(TokenFilter.class)
class AccessFilters {

	/**
	 * Runs before the token filter and after the filters that apply forwarded headers.
	 */
	@Bean
	FilterRegistrationBean<ForeignRequestFilter> foreignRequestsBeforeTheToken(ForeignRequestFilter filter) {
		FilterRegistrationBean<ForeignRequestFilter> registration = new FilterRegistrationBean<>(filter);
		registration.setOrder(Ordered.LOWEST_PRECEDENCE - 1);
		return registration;
	}

	@Bean
	FilterRegistrationBean<TokenFilter> tokenBeforeEveryRequest(TokenFilter filter) {
		return new FilterRegistrationBean<>(filter);
	}

}
