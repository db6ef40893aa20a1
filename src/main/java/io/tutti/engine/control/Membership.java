package io.tutti.engine.control;

import java.util.List;

import io.tutti.engine.RankAssignment;

/**
 * What a rank holds once all have met.
 *
 * @param assignment who this rank is
 * @param generation which forming of the job this is, chosen by rank 0
 * @param roster where each rank accepts data connections, by rank
 * @param sessionKey secret that rank 0 handed out; every data connection proves it
 * @param conduct what all ranks do alike: what rank 0 brought to the meeting
 * @param control the control plane
 */
public record Membership(RankAssignment assignment, long generation, List<PeerAddress> roster, SessionKey sessionKey,
		String conduct, ControlPlane control) {

	public Membership {
		roster = List.copyOf(roster);
	}

}
