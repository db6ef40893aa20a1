package io.tutti.service.group;

import java.util.Map;

import io.tutti.ProcessGroup;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.service.config.RankLogMembers;

import org.springframework.beans.factory.DisposableBean;

/**
 * Adds this rank's position to structured log lines while it has a group: its place in
 * the group of all ranks, and the last collective that it entered there.
 */
public final class LogContext implements DisposableBean {

	LogContext(GroupLifecycle group) {
		RankLogMembers.place(() -> {
			JoinedGroup joined = group.joined();
			return (joined != null) ? place(joined.world()) : Map.of();
		});
	}

	private static Map<String, Object> place(ProcessGroup world) {
		return Map.of("generation", world.generation(), "group", world.name(), "groupRank", world.rank(), "groupSize",
				world.worldSize(), "sequence", world.lastEntered());
	}

	/** The logging system outlives the group. */
	@Override
	public void destroy() {
		RankLogMembers.place(Map::of);
	}

}
