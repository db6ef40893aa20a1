package io.tutti.service.group;

import java.util.List;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.JoinedGroup;
import org.jspecify.annotations.Nullable;

/**
 * A group at one moment. All members are of one generation, even if the next one forms
 * meanwhile.
 *
 * @param status state of the group
 * @param assignment this rank's place, as {@link GroupLifecycle#assignment()}
 * @param joined the generation, {@code null} if it has not formed
 * @param leftRanks ranks that have left it in order
 */
public record GroupSnapshot(GroupStatus status, RankAssignment assignment, @Nullable JoinedGroup joined,
		List<Integer> leftRanks) {
}
