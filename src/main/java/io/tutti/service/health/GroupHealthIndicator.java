package io.tutti.service.health;

import java.util.List;

import io.tutti.Failure;
import io.tutti.GroupState;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.control.PeerStatus;
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
		List<Integer> left = left();
		builder
			.status((status.state() == GroupState.READY && !left.isEmpty()) ? Status.OUT_OF_SERVICE
					: verdict(status.state()))
			.withDetail("state", status.state())
			.withDetail("rank", this.group.assignment().rank())
			.withDetail("worldSize", this.group.assignment().worldSize());
		if (!left.isEmpty()) {
			builder.withDetail("leftRanks", left);
		}
		String problem = status.problem();
		if (problem != null) {
			builder.withDetail("problem", problem);
		}
		Failure failure = status.failure();
		if (failure != null && failure.kind() == Failure.Kind.PEER_LOST) {
			builder.withDetail("lostRanks", failure.ranks());
		}
	}

	/**
	 * Ranks that left in order. The group is not broken, but no collective can run
	 * without them.
	 */
	private List<Integer> left() {
		JoinedGroup joined = this.group.joined();
		return (joined != null) ? joined.control()
			.peers()
			.stream()
			.filter((peer) -> peer.state() == PeerStatus.State.LEFT)
			.map(PeerStatus::rank)
			.toList() : List.of();
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
