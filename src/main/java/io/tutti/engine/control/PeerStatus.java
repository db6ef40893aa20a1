package io.tutti.engine.control;

/**
 * The status of another rank as known from the control plane.
 *
 * @param rank the other rank
 * @param host the address that it advertises for data connections
 * @param port the port at that address
 * @param lastSeenMillis milliseconds since it was last heard, -1 if never
 * @param roundTripMicros the last measured round trip, -1 if none was measured
 * @param state whether it is up
 */
public record PeerStatus(int rank, String host, int port, long lastSeenMillis, long roundTripMicros, State state) {

	/** The state of a peer. */
	public enum State {

		/** It answers. */
		UP,
		/** It has left in order. */
		LEFT,
		/** Its connection ended or it fell silent before it left. */
		LOST,
		/** It was up when rank 0, which reports its state, left or was lost. */
		UNKNOWN

	}

}
