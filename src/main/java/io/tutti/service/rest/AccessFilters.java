package io.tutti.service.rest;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;

/**
 * Puts the checks of host, origin and token before every web server of this rank: that of
 * the interface, and the actuator's own, where it has one, which is made of what is
 * listed for it in {@code META-INF/spring}. Spring reads that list in every application
 * that has this jar and an actuator; one that is not Tutti's own has no such filters, and
 * guards its endpoints itself.
 */
@ManagementContextConfiguration(proxyBeanMethods = false)
@ConditionalOnBean(TokenFilter.class)
class AccessFilters {

	/** Before the token, after the filters that apply forwarded headers. */
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
