package io.tutti.service.page;

import java.util.List;

import io.tutti.GroupState;
import org.jspecify.annotations.Nullable;

/**
 * Everything that the page shows at one time.
 *
 * @param state where this rank's group stands
 * @param rank this rank
 * @param worldSize how many ranks there are
 * @param backend name of the backend
 * @param transport what carries the data, absent until that is known
 * @param generation which forming of the job this is, absent until it has formed
 * @param problem what broke the group, in words
 * @param verdict what the accounts of all ranks say together, in words
 * @param trouble whether somebody should look at it though the group is whole
 * @param ranks every rank
 * @param inFlight collectives that are under way, the longest first
 * @param bytesPerSecond what this rank's collectives moved since the last message
 * @param skewMicros how late the last rank comes, absent while nothing is known
 * @param training absent where nothing is trained
 */
record PageState(GroupState state, int rank, int worldSize, String backend, @Nullable String transport,
		@Nullable Long generation, @Nullable String problem, @Nullable String verdict, boolean trouble,
		List<RankCard> ranks, List<FlightRow> inFlight, double bytesPerSecond, @Nullable Long skewMicros,
		@Nullable TrainingView training) {
}
