package io.tutti.service.group;

import io.tutti.Failure;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.diagnosis.RankTrace;
import org.jspecify.annotations.Nullable;

/**
 * A generation of the group that has broken.
 *
 * @param failure the failure
 * @param assignment this rank's place in the generation
 * @param trace this rank's last calls; {@code null} if the group broke before this rank
 * had joined it
 */
public record BrokenGeneration(Failure failure, RankAssignment assignment, @Nullable RankTrace trace) {
}
