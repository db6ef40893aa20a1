package io.tutti.service.health;

import io.tutti.engine.Timeouts;
import io.tutti.service.autoconfigure.ProcessGroupAutoConfiguration;
import io.tutti.service.config.ConditionalOnSwitch;
import io.tutti.service.group.GroupLifecycle;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * Health of the group and of this rank's engine, also in the readiness and liveness
 * probes.
 */
@AutoConfiguration(after = { ProcessGroupAutoConfiguration.class, AvailabilityProbesAutoConfiguration.class })
@ConditionalOnClass(HealthIndicator.class)
@ConditionalOnBean(GroupLifecycle.class)
@ConditionalOnSwitch("tutti.health.enabled")
public class GroupHealthAutoConfiguration {

	@Bean
	@ConditionalOnEnabledHealthIndicator("group")
	GroupHealthIndicator groupHealthIndicator(GroupLifecycle group) {
		return new GroupHealthIndicator(group);
	}

	@Bean
	@ConditionalOnEnabledHealthIndicator("engine")
	EngineHealthIndicator engineHealthIndicator(GroupLifecycle group, Timeouts timeouts) {
		return new EngineHealthIndicator(group, timeouts.heartbeat());
	}

	@Bean("tuttiProbeMembers")
	ProbeMembers probeMembers(Environment environment) {
		return new ProbeMembers(environment);
	}

}
