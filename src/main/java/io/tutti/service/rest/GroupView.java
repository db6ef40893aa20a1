package io.tutti.service.rest;

import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.tutti.Failure;
import io.tutti.GroupState;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.GroupSnapshot;
import io.tutti.service.group.GroupStatus;
import io.tutti.service.group.PeerSummary;
import org.jspecify.annotations.Nullable;

/**
 * The group as one of its ranks sees it.
 *
 * @param state state of the group
 * @param rank this rank
 * @param worldSize ranks in the group
 * @param localRank index among the ranks of this host
 * @param localWorldSize ranks on this host
 * @param backend name of the backend
 * @param generation number of times the group has formed before; absent until this
 * formation is complete
 * @param problem what is wrong; absent if nothing is
 * @param lostRanks ranks that were lost; absent if none was
 * @param peers the other ranks in summary; absent until the group has formed
 * @param elastic how the group has changed; absent if it does not form again after a loss
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record GroupView(GroupState state, int rank, int worldSize, int localRank, int localWorldSize, String backend,
		@Nullable Long generation, @Nullable String problem, @Nullable List<Integer> lostRanks,
		@Nullable PeerSummary peers, @Nullable ElasticView elastic) {

	static GroupView of(GroupLifecycle group, String backend) {
		GroupSnapshot now = group.snapshot();
		GroupStatus status = now.status();
		RankAssignment who = now.assignment();
		JoinedGroup joined = now.joined();
		return new GroupView(status.state(), who.rank(), who.worldSize(), who.localRank(), who.localWorldSize(),
				backend, (joined != null) ? joined.world().generation() : null, status.problem(),
				lost(status.failure()), (joined != null) ? PeerSummary.of(joined.control().peers()) : null,
				group.isElastic() ? ElasticView.of(group.history()) : null);
	}

	private static @Nullable List<Integer> lost(@Nullable Failure failure) {
		return (failure != null && failure.kind() == Failure.Kind.PEER_LOST) ? failure.ranks() : null;
	}

}
