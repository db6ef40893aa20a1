package io.tutti.service.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.tutti.engine.control.PeerStatus;
import org.jspecify.annotations.Nullable;

/**
 * What this rank knows about another rank.
 *
 * @param rank the other rank
 * @param state state of the other rank
 * @param address host and port where it accepts data connections
 * @param transport transport between the two ranks
 * @param lastSeenMs milliseconds since it was last seen; absent if never
 * @param roundTripMicros the last measured round trip, by rank 0 if neither rank is rank
 * 0; absent if none was measured
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record PeerView(int rank, PeerStatus.State state, String address, String transport, @Nullable Long lastSeenMs,
		@Nullable Long roundTripMicros) {

	static PeerView of(PeerStatus peer, String transport) {
		return new PeerView(peer.rank(), peer.state(), address(peer), transport, known(peer.lastSeenMillis()),
				known(peer.roundTripMicros()));
	}

	private static String address(PeerStatus peer) {
		return (peer.host().indexOf(':') < 0 ? peer.host() : "[" + peer.host() + "]") + ":" + peer.port();
	}

	private static @Nullable Long known(long value) {
		return (value >= 0) ? value : null;
	}

}
