package io.tutti.service.health;

import io.tutti.launch.ResolvedRank;
import io.tutti.service.command.RankDescription;

import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/**
 * {@code /actuator/rank}: the identity of this rank and how it was determined, in the
 * format of {@code env --json}.
 */
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
