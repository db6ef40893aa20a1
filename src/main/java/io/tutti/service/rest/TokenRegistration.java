package io.tutti.service.rest;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;

/**
 * Puts the token before every web server of this rank: that of the interface, and the
 * actuator's own, where it has one, which is made of what is listed for it in
 * {@code META-INF/spring}.
 */
@ManagementContextConfiguration(proxyBeanMethods = false)
class TokenRegistration {

	@Bean
	FilterRegistrationBean<TokenFilter> tokenBeforeEveryRequest(TokenFilter filter) {
		return new FilterRegistrationBean<>(filter);
	}

}
