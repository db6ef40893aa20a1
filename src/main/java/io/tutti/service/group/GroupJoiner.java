package io.tutti.service.group;

import io.tutti.CollectiveListener;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.JoinedGroup;

/**
 * Joins a rank to its group.
 */
@FunctionalInterface
public interface GroupJoiner {

	/**
	 * Runs the rendezvous and returns when the group has formed.
	 * @throws io.tutti.engine.control.RendezvousException if the group does not form
	 */
	JoinedGroup join(RankAssignment assignment, EngineSettings settings, CollectiveListener listener);

}
