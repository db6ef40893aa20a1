package io.tutti.service.http;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * Applies the HTTP limits of a rank to the actuator's own port too, if it has one: probes
 * use that port. An application that uses Tutti as a library keeps its own limits.
 */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
@ConditionalOnBean(HttpLimits.class)
@ConditionalOnMissingBean(value = HttpLimits.class, search = SearchStrategy.CURRENT)
class ManagementHttpLimits {

	@Bean
	HttpLimits limitsOfActuatorsPort(Environment environment) {
		return new HttpLimits(environment);
	}

}
