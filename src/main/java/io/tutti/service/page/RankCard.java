package io.tutti.service.page;

import org.jspecify.annotations.Nullable;

/**
 * One rank as the page shows it.
 *
 * @param rank the rank
 * @param self whether it is the one that serves the page
 * @param state {@code up}, {@code waiting}, {@code missing}, {@code silent}, {@code lost}
 * or {@code left}
 * @param call the collective that it is in, in words
 * @param sequence the last call that it entered in the group of all ranks, -1 for none
 * @param roundTripMicros last measured round trip over the control plane
 * @param lateMicros how late it comes to the collectives, on average
 */
record RankCard(int rank, boolean self, String state, @Nullable String call, long sequence,
		@Nullable Long roundTripMicros, @Nullable Long lateMicros) {
}
