package io.tutti.service.group;

import java.util.List;

import io.tutti.BackendUnavailableException;
import io.tutti.CollectiveListener;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.Backend;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.launch.ExposureCheck;
import io.tutti.launch.ResolvedRank;
import io.tutti.service.config.ElasticProperties;
import io.tutti.service.config.FlightRecorderProperties;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Defines the beans of this application's group.
 */
@Configuration(proxyBeanMethods = false)
public class GroupConfiguration {

	@Bean("tuttiGroupJoiner")
	GroupJoiner groupJoiner(Backend backend) {
		return (assignment, settings, listener) -> {
			try {
				return backend.join(assignment, settings, listener);
			}
			catch (BackendUnavailableException ex) {
				throw ex.onRank(assignment.rank(), assignment.worldSize());
			}
		};
	}

	@Bean("tuttiGroupLog")
	CollectiveListener groupLog() {
		return new GroupLog();
	}

	@Bean("tuttiBoundedWaits")
	BoundedWaits boundedWaits() {
		return new BoundedWaits();
	}

	@Bean("tuttiGroupLifecycle")
	GroupLifecycle groupLifecycle(RankAssignment assignment, EngineSettings settings, GroupJoiner joiner,
			List<CollectiveListener> listeners, ElasticProperties elastic, ResolvedRank resolved,
			ExposureCheck exposure, FlightRecorderProperties recorder) {
		GroupLifecycle group = new GroupLifecycle(assignment, settings, joiner, new GroupListeners(listeners),
				elastic.settings(resolved, settings, exposure));
		group.onFormed((joined) -> joined.recordSites(recorder.sites()));
		return group;
	}

}
