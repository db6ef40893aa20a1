package io.tutti.service.group;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What happened to an elastic group since this process joined it. The ranks are those
 * that the launcher gave to the processes, which do not change between generations.
 *
 * @param reforms number of generations after this process's first one
 * @param reforming total time that these took to form
 * @param ranks launcher's rank of each rank of the current generation
 * @param awaited ranks that the next generation waits for, empty if none is forming
 * @param losses the last losses of ranks, oldest first
 */
public record GroupHistory(long reforms, Duration reforming, List<Integer> ranks, List<Integer> awaited,
		List<Loss> losses) {

	/** Of a group that does not form again. */
	static final GroupHistory NONE = new GroupHistory(0, Duration.ZERO, List.of(), List.of(), List.of());

	/** Of a group that waits for no rank any more, since this process has left it. */
	GroupHistory ended() {
		return new GroupHistory(this.reforms, this.reforming, this.ranks, List.of(), this.losses);
	}

	/**
	 * A loss of ranks.
	 *
	 * @param generation the generation that lost them
	 * @param ranks the lost ranks; empty if the generation broke for another reason
	 * @param at when this rank detected it
	 * @param problem description of the failure
	 * @param recoveredAfter time until the next generation had formed, {@code null} while
	 * it forms
	 */
	public record Loss(long generation, List<Integer> ranks, Instant at, String problem,
			@Nullable Duration recoveredAfter) {
	}

}
