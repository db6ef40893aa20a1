package io.tutti.service.health;

import java.util.Map;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.Backends;
import io.tutti.engine.backend.EngineSettings;

import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.stereotype.Component;

/**
 * Adds the backend, which others could be used here, and the rank to the build's own
 * information.
 */
@Component
final class GroupInfoContributor implements InfoContributor {

	private final RankAssignment assignment;

	private final EngineSettings settings;

	GroupInfoContributor(RankAssignment assignment, EngineSettings settings) {
		this.assignment = assignment;
		this.settings = settings;
	}

	@Override
	public void contribute(Info.Builder builder) {
		builder.withDetail("tutti",
				Map.of("backend", this.settings.backend(), "backends", Backends.availabilities(this.settings), "rank",
						this.assignment.rank(), "worldSize", this.assignment.worldSize()));
	}

}
