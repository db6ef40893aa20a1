package io.tutti.service.rest;

import io.tutti.service.autoconfigure.ProcessGroupAutoConfiguration;
import io.tutti.service.config.AllowedHosts;
import io.tutti.service.config.HttpProperties;
import io.tutti.service.config.SecurityProperties;
import io.tutti.service.config.SharedToken;
import io.tutti.service.config.TransportProperties;
import io.tutti.service.group.GroupLifecycle;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.web.servlet.DispatcherServlet;

/**
 * Access to the REST interface inside an application that has its own web server. Tutti's
 * own server has a filter before every request instead.
 */
@AutoConfiguration(after = ProcessGroupAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass(DispatcherServlet.class)
@ConditionalOnBean(GroupLifecycle.class)
@EnableConfigurationProperties(HttpProperties.class)
public class RestSecurityAutoConfiguration {

	@Bean("tuttiForeignRequestCheck")
	@ConditionalOnMissingBean
	ForeignRequestCheck foreignRequestCheck(HttpProperties http, TransportProperties transport) {
		return new ForeignRequestCheck(AllowedHosts.of(http, transport));
	}

	@Bean("tuttiTokenCheck")
	TokenCheck tokenCheck(SharedToken token) {
		return new TokenCheck(token);
	}

	@Bean("tuttiAccessInterceptor")
	@ConditionalOnMissingBean(AccessFilter.class)
	AccessInterceptor accessInterceptor(ForeignRequestCheck origins, TokenCheck token, HttpProperties http,
			SecurityProperties security) {
		return new AccessInterceptor(origins, token, http.operatorRole(), security.anonymous());
	}

}
