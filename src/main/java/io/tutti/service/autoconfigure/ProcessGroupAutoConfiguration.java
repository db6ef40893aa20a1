package io.tutti.service.autoconfigure;

import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.javacpp.NativeLibraryPreparation;
import io.tutti.service.config.RankConfiguration;
import io.tutti.service.config.SecurityProperties;
import io.tutti.service.group.GroupConfiguration;
import io.tutti.service.group.GroupLifecycle;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/**
 * Provides the group of all ranks as a bean, unless the application defines one itself.
 * The rank joins the group on a separate thread when the application starts, and leaves
 * it when the application stops. Calls on the bean wait until the group has formed, for
 * at most the rendezvous timeout.
 */
@AutoConfiguration
@ConditionalOnMissingBean({ ProcessGroup.class, GroupLifecycle.class })
@ConfigurationPropertiesScan(basePackageClasses = SecurityProperties.class)
@Import({ RankConfiguration.class, GroupConfiguration.class })
public class ProcessGroupAutoConfiguration {

	/** No destroy method: the lifecycle leaves the group after its users have stopped. */
	@Bean(destroyMethod = "")
	ProcessGroup processGroup(GroupLifecycle lifecycle, Timeouts timeouts) {
		NativeLibraryPreparation.prepare();
		return FormingGroup.of(lifecycle, timeouts.rendezvous());
	}

}
