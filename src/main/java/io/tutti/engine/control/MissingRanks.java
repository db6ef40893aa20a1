package io.tutti.engine.control;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The ranks missing from a rendezvous.
 *
 * @param missing the ranks that have not joined
 * @param dropped the missing ranks that had joined before their connection dropped
 * @param left the missing ranks that had joined and left in order
 */
public record MissingRanks(List<Integer> missing, List<Integer> dropped, List<Integer> left) {

	/** Maximum number of ranks that are named. */
	private static final int NAMED = 16;

	public MissingRanks {
		missing = List.copyOf(missing);
		dropped = List.copyOf(dropped);
		left = List.copyOf(left);
	}

	/** The missing ranks for a message. */
	public String describe() {
		String named = this.missing.stream().limit(NAMED).map(this::describe).collect(Collectors.joining(", "));
		int more = this.missing.size() - NAMED;
		return (more > 0) ? named + " and " + more + " more" : named;
	}

	private String describe(int rank) {
		if (this.left.contains(rank)) {
			return "rank " + rank + " (joined, but has left)";
		}
		return "rank " + rank + (this.dropped.contains(rank) ? " (joined, but its connection dropped)" : "");
	}

}
