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
 * Gives an application the group of all ranks as a bean, unless it makes one itself. The
 * group is joined when the application starts, on a thread of its own, and left when it
 * stops; until then the bean's calls wait, at the longest for the rendezvous deadline.
 */
@AutoConfiguration
@ConditionalOnMissingBean({ ProcessGroup.class, GroupLifecycle.class })
@ConfigurationPropertiesScan(basePackageClasses = SecurityProperties.class)
@Import({ RankConfiguration.class, GroupConfiguration.class })
public class ProcessGroupAutoConfiguration {

	/** The lifecycle leaves the group, after whoever uses it has stopped. */
	@Bean(destroyMethod = "")
	ProcessGroup processGroup(GroupLifecycle lifecycle, Timeouts timeouts) {
		NativeLibraryPreparation.prepare();
		return FormingGroup.of(lifecycle, timeouts.rendezvous());
	}

}
