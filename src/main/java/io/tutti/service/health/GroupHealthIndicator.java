package io.tutti.service.health;

import java.util.List;

import io.tutti.Failure;
import io.tutti.GroupState;
import io.tutti.service.group.GroupLifecycle;
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
		GroupStatus status = this.group.status();
		List<Integer> left = this.group.leftRanks();
		String problem = status.problem();
		builder
			.status((status.state() == GroupState.READY && problem != null) ? Status.OUT_OF_SERVICE
					: verdict(status.state()))
			.withDetail("state", status.state())
			.withDetail("rank", this.group.assignment().rank())
			.withDetail("worldSize", this.group.assignment().worldSize());
		if (!left.isEmpty()) {
			builder.withDetail("leftRanks", left);
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
