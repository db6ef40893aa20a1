package io.tutti.service.page;

import org.jspecify.annotations.Nullable;

/**
 * One rank as the page shows it.
 *
 * @param rank the rank
 * @param self whether this rank serves the page
 * @param state {@code up}, {@code waiting}, {@code missing}, {@code silent}, {@code lost}
 * or {@code left}
 * @param call text of the collective in progress
 * @param sequence sequence number of the last call that it entered in the world group, -1
 * for none
 * @param roundTripMicros last measured round trip over the control plane
 * @param lateMicros mean arrival delay in collectives
 */
record RankCard(int rank, boolean self, String state, @Nullable String call, long sequence,
		@Nullable Long roundTripMicros, @Nullable Long lateMicros) {
}
