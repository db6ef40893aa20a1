package io.tutti.engine.control;

/**
 * What one rank knows of another over the control plane.
 *
 * @param rank the other rank
 * @param host the address that it advertises for data connections
 * @param port the port that goes with it
 * @param lastSeenMillis milliseconds since anything was heard of it, -1 if never
 * @param roundTripMicros the last measured round trip, -1 if none was measured
 * @param state whether it is there
 */
public record PeerStatus(int rank, String host, int port, long lastSeenMillis, long roundTripMicros, State state) {

	/** Whether a peer is there. */
	public enum State {

		/** It answers. */
		UP,
		/** It said goodbye. */
		LEFT,
		/** It ended or fell silent without a word. */
		LOST

	}

}
