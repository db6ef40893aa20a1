package io.tutti.service.http;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * Sets the limits of a rank's HTTP for the actuator's own port too, where it has one: the
 * probes come there. An application that uses Tutti as a library keeps its own.
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
