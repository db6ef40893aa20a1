package io.tutti.service.group;

import java.util.Comparator;
import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.tutti.engine.control.PeerStatus;
import org.jspecify.annotations.Nullable;

/**
 * The other ranks in a fixed number of values, however many there are. Round trips and
 * silence are those of the ranks that are up.
 *
 * @param up connected ranks
 * @param unknown ranks that were up when rank 0, from which this rank learns their state,
 * was lost or left
 * @param left ranks that left in order
 * @param lost ranks that were lost
 * @param medianRoundTripMicros median of the last measured round trips; absent if there
 * is none
 * @param maxRoundTripMicros the longest of them
 * @param slowestRank the rank with the longest round trip
 * @param maxSilenceMs longest time since a rank was last seen
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PeerSummary(int up, int unknown, int left, int lost, @Nullable Long medianRoundTripMicros,
		@Nullable Long maxRoundTripMicros, @Nullable Integer slowestRank, @Nullable Long maxSilenceMs) {

	/**
	 * Summarizes the other ranks as this rank knows them.
	 * @param peers status of the other ranks
	 */
	public static PeerSummary of(List<PeerStatus> peers) {
		List<PeerStatus> up = peers.stream().filter((peer) -> peer.state() == PeerStatus.State.UP).toList();
		List<PeerStatus> byRoundTrip = up.stream()
			.filter((peer) -> peer.roundTripMicros() >= 0)
			.sorted(Comparator.comparingLong(PeerStatus::roundTripMicros))
			.toList();
		PeerStatus slowest = byRoundTrip.isEmpty() ? null : byRoundTrip.getLast();
		return new PeerSummary(up.size(), count(peers, PeerStatus.State.UNKNOWN), count(peers, PeerStatus.State.LEFT),
				count(peers, PeerStatus.State.LOST), median(byRoundTrip),
				(slowest != null) ? slowest.roundTripMicros() : null, (slowest != null) ? slowest.rank() : null,
				up.stream()
					.map(PeerStatus::lastSeenMillis)
					.filter((millis) -> millis >= 0)
					.max(Comparator.naturalOrder())
					.orElse(null));
	}

	private static int count(List<PeerStatus> peers, PeerStatus.State state) {
		return (int) peers.stream().filter((peer) -> peer.state() == state).count();
	}

	private static @Nullable Long median(List<PeerStatus> byRoundTrip) {
		int count = byRoundTrip.size();
		return (count == 0) ? null
				: (byRoundTrip.get((count - 1) / 2).roundTripMicros() + byRoundTrip.get(count / 2).roundTripMicros())
						/ 2;
	}

}
