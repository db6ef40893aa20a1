package io.tutti.service.health;

import io.tutti.launch.ResolvedRank;
import io.tutti.service.command.RankReport;

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

	private final RankReport report;

	RankEndpoint(ResolvedRank resolved) {
		this.report = RankReport.of(resolved);
	}

	@ReadOperation
	RankReport rank() {
		return this.report;
	}

}
