package io.tutti.engine.control;

import java.util.List;

import io.tutti.engine.RankAssignment;

/**
 * The result of rendezvous for a rank.
 *
 * @param assignment this rank's assignment
 * @param generation the generation of the job, chosen by rank 0
 * @param roster where each rank accepts data connections, by rank
 * @param sessionKey the secret that every data connection proves, derived from rank 0's
 * nonce
 * @param sharedConfig the configuration that all ranks share, as set at rank 0
 * @param control the control plane
 */
public record Membership(RankAssignment assignment, long generation, List<PeerAddress> roster, SessionKey sessionKey,
		String sharedConfig, ControlPlane control) {

	public Membership {
		roster = List.copyOf(roster);
	}

}
