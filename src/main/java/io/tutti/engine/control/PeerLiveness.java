package io.tutti.engine.control;

/**
 * When and how rank 0 last heard of a rank.
 *
 * @param state whether it is there
 * @param lastSeenMillis milliseconds since it was heard of, -1 if never
 * @param roundTripMicros the last measured round trip, -1 if none was measured
 */
public record PeerLiveness(PeerStatus.State state, int lastSeenMillis, int roundTripMicros) {
}
