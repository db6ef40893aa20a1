package io.tutti.service.rest;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.tutti.service.group.GroupHistory;
import org.jspecify.annotations.Nullable;

/**
 * How an elastic group has changed since this process joined it. The ranks are those that
 * the launcher gave to the processes, which do not change between generations.
 *
 * @param ranks launcher's rank of each rank of the last generation
 * @param awaitedRanks ranks that the next generation waits for; empty if none is forming
 * @param reforms number of generations after this process's first one
 * @param losses the last losses of ranks, oldest first
 */
record ElasticView(List<Integer> ranks, List<Integer> awaitedRanks, long reforms, List<LossView> losses) {

	static ElasticView of(GroupHistory history) {
		return new ElasticView(history.ranks(), history.awaited(), history.reforms(),
				history.losses().stream().map(LossView::of).toList());
	}

	/**
	 * A loss of ranks.
	 *
	 * @param generation the generation that lost them
	 * @param ranks the lost ranks; empty if the generation broke for another reason
	 * @param at when this rank detected it
	 * @param problem description of the failure
	 * @param recoveryMs time until the next generation had formed; absent while it forms
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record LossView(long generation, List<Integer> ranks, Instant at, String problem, @Nullable Long recoveryMs) {

		static LossView of(GroupHistory.Loss loss) {
			Duration recovery = loss.recoveredAfter();
			return new LossView(loss.generation(), loss.ranks(), loss.at(), loss.problem(),
					(recovery != null) ? recovery.toMillis() : null);
		}

	}

}
