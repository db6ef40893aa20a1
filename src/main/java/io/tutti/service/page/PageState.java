package io.tutti.service.page;

import java.util.List;

import io.tutti.GroupState;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of everything that the page shows.
 *
 * @param state state of this rank's group
 * @param rank this rank
 * @param worldSize how many ranks there are
 * @param backend name of the backend
 * @param transport transport of the data, absent until it is known
 * @param generation number of times the group has formed before, absent until this
 * formation is complete
 * @param problem what is wrong with the group, and the ranks that its next generation
 * waits for
 * @param verdict summary of the analysis of all ranks
 * @param trouble what the analysis found, in a few words, even if the group is intact;
 * absent if there is no problem
 * @param ranks every rank
 * @param inFlight collectives in progress, the longest first
 * @param sample the newest sample of this rank's history
 * @param events the timeline, oldest first
 * @param training absent if no training runs
 */
record PageState(GroupState state, int rank, int worldSize, String backend, @Nullable String transport,
		@Nullable Long generation, @Nullable String problem, @Nullable String verdict, @Nullable String trouble,
		List<RankCard> ranks, List<FlightRow> inFlight, @Nullable PageSample sample, List<PageEvent> events,
		@Nullable TrainingView training) {
}
