package io.tutti.service.backend;

import io.tutti.CollectiveListener;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.Backends;
import io.tutti.engine.backend.nccl.CudaDevices;
import io.tutti.engine.device.DeviceCollectives;
import io.tutti.engine.device.HostFallback;
import io.tutti.service.config.GpuProperties;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Profile;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Collectives on device memory: by NCCL, or through host memory where that is allowed.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = "org.bytedeco.cuda.global.cudart")
@Conditional(DeviceCollectivesConfiguration.OnNcclOrHostFallback.class)
public class DeviceCollectivesConfiguration {

	@Lazy
	@Bean("tuttiDeviceCollectives")
	@ConditionalOnMissingBean
	DeviceCollectives deviceCollectives(ProcessGroup group, HostFallback fallback,
			@Qualifier("tuttiGroupLog") CollectiveListener log, Timeouts timeouts) {
		return new DeviceCollectives(group, CudaDevices.runtime(), fallback, log, timeouts.collective());
	}

	static final class OnNcclOrHostFallback extends AnyNestedCondition {

		OnNcclOrHostFallback() {
			super(ConfigurationPhase.PARSE_CONFIGURATION);
		}

		@Profile(Backends.NCCL)
		static class OnNccl {

		}

		@Conditional(IsAllowed.class)
		static class OnHostFallback {

		}

	}

	/** Decides by the property and by the variable, as the bean. */
	static final class IsAllowed implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			return Binder.get(context.getEnvironment())
				.bindOrCreate(GpuProperties.PREFIX, GpuProperties.class)
				.fallback()
				.allowed();
		}

	}

}
