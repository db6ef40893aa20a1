package io.tutti.service.health;

import io.tutti.launch.ResolvedRank;
import io.tutti.service.command.RankDescription;

import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.stereotype.Component;

/**
 * {@code /actuator/rank}: who this rank is and how that was found out, as
 * {@code env --json} says it.
 */
@Component
@Endpoint(id = "rank")
class RankEndpoint {

	private final RankDescription report;

	RankEndpoint(ResolvedRank resolved) {
		this.report = RankDescription.of(resolved);
	}

	@ReadOperation
	RankDescription rank() {
		return this.report;
	}

}
