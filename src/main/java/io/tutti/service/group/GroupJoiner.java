package io.tutti.service.group;

import io.tutti.CollectiveListener;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;

/**
 * How a rank joins its group.
 */
@FunctionalInterface
public interface GroupJoiner {

	/**
	 * Meets the other ranks; returns when the group has formed.
	 * @throws io.tutti.engine.control.RendezvousException if it does not form
	 */
	JoinedGroup join(RankAssignment assignment, EngineSettings settings, CollectiveListener listener);

}
