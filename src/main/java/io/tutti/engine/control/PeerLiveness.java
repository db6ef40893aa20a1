package io.tutti.engine.control;

/**
 * The liveness of a rank as seen by rank 0.
 *
 * @param state whether it is up
 * @param lastSeenMillis milliseconds since it was last heard, -1 if never
 * @param roundTripMicros the last measured round trip, -1 if none was measured
 */
public record PeerLiveness(PeerStatus.State state, int lastSeenMillis, int roundTripMicros) {
}
