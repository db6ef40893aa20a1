package io.tutti.service.group;

import io.tutti.engine.CollectiveListener;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The group of this application.
 */
@Configuration(proxyBeanMethods = false)
public class GroupConfiguration {

	@Bean
	GroupFactory groupFactory() {
		return EngineGroup::join;
	}

	@Bean
	CollectiveListener groupLog() {
		return new GroupLog();
	}

	@Bean
	GroupLifecycle groupLifecycle(RankAssignment assignment, EngineSettings settings, GroupFactory factory,
			CollectiveListener log) {
		return new GroupLifecycle(assignment, settings, factory, log);
	}

}
