package io.tutti.service.recorder;

import java.util.List;

import io.tutti.engine.diagnosis.GroupTrace;
import io.tutti.engine.diagnosis.RankTrace;

/**
 * The calls of a rank in one group.
 *
 * @param group name of the group
 * @param members the ranks of the group
 * @param transport transport of the group
 * @param lastSequence sequence number of the last call that was entered, -1 for none
 * @param calls the last calls, the oldest first
 */
public record FlightRecorderGroupView(String group, List<Integer> members, String transport, long lastSequence,
		List<CallView> calls) {

	static FlightRecorderGroupView of(RankTrace account, GroupTrace group) {
		return new FlightRecorderGroupView(group.group(), group.members(), group.transport(), group.last(),
				group.calls().stream().map((call) -> CallView.of(account, call)).toList());
	}

}
