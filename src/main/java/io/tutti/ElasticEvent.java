package io.tutti;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * An event of an {@link ElasticGroup}. Slots are the ranks that the launcher gave to the
 * processes. A process keeps its slot; its rank in a generation is its position among the
 * slots that are present.
 */
public sealed interface ElasticEvent {

	/**
	 * Ranks were lost, or the group broke for another reason that it can continue after.
	 *
	 * @param generation the generation that broke
	 * @param slots slots of the lost ranks
	 * @param at when this rank detected it
	 * @param failure the failure; its ranks are those of the generation, and its detail
	 * has their slots where the two differ
	 */
	record Lost(long generation, List<Integer> slots, Instant at, Failure failure) implements ElasticEvent {

		/** Copies the slots. */
		public Lost {
			slots = List.copyOf(slots);
		}

	}

	/**
	 * The ranks that the formation waits for have changed.
	 *
	 * @param slots slots of the awaited ranks
	 */
	record Awaiting(List<Integer> slots) implements ElasticEvent {

		/** Copies the slots. */
		public Awaiting {
			slots = List.copyOf(slots);
		}

	}

	/**
	 * A generation has formed.
	 *
	 * @param generation the generation
	 * @param slots slot of each rank, by rank
	 * @param after time since the group broke, or since this rank began to join
	 * @param again whether this rank was a member of an earlier generation
	 */
	record Formed(long generation, List<Integer> slots, Duration after, boolean again) implements ElasticEvent {

		/** Copies the slots. */
		public Formed {
			slots = List.copyOf(slots);
		}

	}

	/**
	 * Ranks have taken the state of another rank.
	 *
	 * @param generation the generation
	 * @param source slot of the rank whose state was taken
	 * @param receivers slots of the ranks that were new, behind or had another state
	 * @param step the step of the state
	 */
	record Synchronized(long generation, int source, List<Integer> receivers, long step) implements ElasticEvent {

		/** Copies the slots. */
		public Synchronized {
			receivers = List.copyOf(receivers);
		}

	}

}
