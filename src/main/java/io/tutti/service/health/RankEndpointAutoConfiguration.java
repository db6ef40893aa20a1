package io.tutti.service.health;

import io.tutti.engine.backend.EngineSettings;
import io.tutti.launch.ResolvedRank;
import io.tutti.service.autoconfigure.ProcessGroupAutoConfiguration;
import io.tutti.service.config.RankTls;
import io.tutti.service.group.GroupLifecycle;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/**
 * The endpoint {@code /actuator/rank}, and this rank's part of {@code /actuator/info}.
 * Its switch is that of every endpoint, {@code management.endpoint.rank.access}.
 */
@AutoConfiguration(after = ProcessGroupAutoConfiguration.class)
@ConditionalOnClass({ InfoContributor.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnBean(GroupLifecycle.class)
public class RankEndpointAutoConfiguration {

	@Bean("tuttiRankEndpoint")
	@ConditionalOnAvailableEndpoint
	RankEndpoint rankEndpoint(ResolvedRank resolved) {
		return new RankEndpoint(resolved);
	}

	@Bean("tuttiGroupInfoContributor")
	GroupInfoContributor groupInfoContributor(GroupLifecycle group, EngineSettings settings, RankTls tls) {
		return new GroupInfoContributor(group, settings, tls);
	}

}
