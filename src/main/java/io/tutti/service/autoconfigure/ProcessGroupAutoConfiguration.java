package io.tutti.service.autoconfigure;

import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.javacpp.NativeLibraryPreparation;
import io.tutti.service.backend.BackendConfiguration;
import io.tutti.service.backend.DeviceCollectivesConfiguration;
import io.tutti.service.config.ConditionalOnSwitch;
import io.tutti.service.config.ElasticProperties;
import io.tutti.service.config.RankConfiguration;
import io.tutti.service.group.GroupConfiguration;
import io.tutti.service.group.GroupLifecycle;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;

/**
 * Provides the group of all ranks as a bean, unless the application defines one itself.
 * The rank joins the group on a separate thread when the application starts, and leaves
 * it when the application stops. Calls on the bean wait until the group has formed, for
 * at most the rendezvous timeout.
 */
@AutoConfiguration
@ConditionalOnSwitch("tutti.enabled")
@ConditionalOnMissingBean({ ProcessGroup.class, GroupLifecycle.class })
@Import({ BackendConfiguration.class, DeviceCollectivesConfiguration.class, RankConfiguration.class,
		GroupConfiguration.class })
public class ProcessGroupAutoConfiguration {

	/** No destroy method: the lifecycle leaves the group after its users have stopped. */
	@Lazy
	@Bean(name = "tuttiProcessGroup", destroyMethod = "")
	ProcessGroup processGroup(GroupLifecycle lifecycle, Timeouts timeouts, ElasticProperties elastic) {
		elastic.requireUnset("a ProcessGroup bean");
		NativeLibraryPreparation.prepare();
		return FormingGroup.of(lifecycle, timeouts.rendezvous());
	}

	/**
	 * An application other than Tutti's own commands, which decide themselves. The group
	 * of such an application does not form again after a loss. No other bean uses this
	 * one.
	 */
	@Lazy(false)
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingBean(type = "io.tutti.service.TuttiApplication")
	static class HostApplication {

		HostApplication(ElasticProperties elastic) {
			elastic.requireUnset("the group of a Spring application");
		}

	}

}
