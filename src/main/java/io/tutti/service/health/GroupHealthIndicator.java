package io.tutti.service.health;

import io.tutti.Failure;
import io.tutti.GroupState;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.GroupSnapshot;
import io.tutti.service.group.GroupStatus;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * Up when the group has formed, is intact, and no rank has left it. Belongs to readiness,
 * never to liveness: a lost peer must not end this process.
 */
final class GroupHealthIndicator extends AbstractHealthIndicator {

	private final GroupLifecycle group;

	GroupHealthIndicator(GroupLifecycle group) {
		this.group = group;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		GroupSnapshot now = this.group.snapshot();
		GroupStatus status = now.status();
		String problem = status.problem();
		builder
			.status((status.state() == GroupState.READY && problem != null) ? Status.OUT_OF_SERVICE
					: verdict(status.state()))
			.withDetail("state", status.state())
			.withDetail("rank", now.assignment().rank())
			.withDetail("worldSize", now.assignment().worldSize());
		if (!now.leftRanks().isEmpty()) {
			builder.withDetail("leftRanks", now.leftRanks());
		}
		if (problem != null) {
			builder.withDetail("problem", problem);
		}
		Failure failure = status.failure();
		if (failure != null && failure.kind() == Failure.Kind.PEER_LOST) {
			builder.withDetail("lostRanks", failure.ranks());
		}
	}

	private static Status verdict(GroupState state) {
		return switch (state) {
			case READY -> Status.UP;
			case FORMING -> Status.OUT_OF_SERVICE;
			case BROKEN -> Status.DOWN;
			case CLOSED -> Status.OUT_OF_SERVICE;
		};
	}

}
