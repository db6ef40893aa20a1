package io.tutti.service.group;

import java.util.Map;

import io.tutti.ProcessGroup;
import io.tutti.service.config.RankLogMembers;

/**
 * Adds this rank's position to structured log lines: the last collective that it entered
 * in the group of all ranks.
 */
public final class LogContext {

	LogContext(GroupLifecycle group) {
		group.onFormed((joined) -> RankLogMembers.place(() -> place(joined.world())));
	}

	private static Map<String, Object> place(ProcessGroup world) {
		return Map.of("generation", world.generation(), "group", world.name(), "sequence", world.lastEntered());
	}

}
