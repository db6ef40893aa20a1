package io.tutti.service.recorder;

import java.time.Instant;
import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.tutti.engine.diagnosis.GroupTrace;
import io.tutti.engine.diagnosis.RankTrace;
import org.jspecify.annotations.Nullable;

/**
 * The last collectives of one rank.
 *
 * @param rank the rank
 * @param worldSize ranks in the group
 * @param generation number of times the group has formed before
 * @param takenAt when this snapshot was taken
 * @param problem what is wrong with the group; absent if nothing is
 * @param groups groups of the rank, the world group first
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FlightRecorderView(int rank, int worldSize, long generation, Instant takenAt, @Nullable String problem,
		List<FlightRecorderGroupView> groups) {

	/** Builds the view of a rank's trace. */
	public static FlightRecorderView of(RankTrace account, int worldSize, @Nullable String problem) {
		return new FlightRecorderView(account.rank(), worldSize, account.generation(),
				CallView.instant(account.epochNanos(account.takenNanos())), problem,
				account.groups().stream().map((group) -> FlightRecorderGroupView.of(account, group)).toList());
	}

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

}
