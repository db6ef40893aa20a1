package io.tutti.launch;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Compares variable sets of lower precedence with the selected one. A set agrees if it
 * names the same rank, or the agent that started that rank. A missing value is not a
 * disagreement.
 */
final class RankConflicts {

	private final Variables variables;

	private final RankResolver selected;

	private final int rank;

	private final int worldSize;

	RankConflicts(Variables variables, RankResolver selected, int rank, int worldSize) {
		this.variables = variables;
		this.selected = selected;
		this.rank = rank;
		this.worldSize = worldSize;
	}

	/** One line for each set that disagrees. */
	List<String> among(List<RankResolver> lower) {
		return lower.stream().filter(this::disagrees).map(this::describe).toList();
	}

	private boolean disagrees(RankResolver resolver) {
		String theirRank = this.variables.peek(resolver.rankVariable());
		if (theirRank == null || resolver.disregarded(this.variables) != null) {
			return false;
		}
		String theirWorldSize = this.variables.peek(resolver.worldSizeVariable(this.variables));
		return !agree(theirRank, theirWorldSize, Integer.toString(this.rank), Integer.toString(this.worldSize))
				&& !isAgent(theirRank, theirWorldSize);
	}

	private boolean isAgent(String theirRank, @Nullable String theirWorldSize) {
		RankResolver.AgentVariables agent = this.selected.agent();
		if (agent == null) {
			return false;
		}
		return agree(theirRank, theirWorldSize, this.variables.peek(agent.rank()),
				this.variables.peek(agent.worldSize()));
	}

	private static boolean agree(String theirRank, @Nullable String theirWorldSize, @Nullable String ourRank,
			@Nullable String ourWorldSize) {
		return ourRank != null && same(theirRank, ourRank)
				&& (theirWorldSize == null || ourWorldSize == null || same(theirWorldSize, ourWorldSize));
	}

	private static boolean same(String one, String other) {
		if (WholeNumber.matches(one) && WholeNumber.matches(other)) {
			return Integer.parseInt(one) == Integer.parseInt(other);
		}
		return one.equals(other);
	}

	private String describe(RankResolver resolver) {
		String size = resolver.worldSizeVariable(this.variables);
		return this.variables.show(resolver.rankVariable())
				+ (this.variables.has(size) ? " " + this.variables.show(size) : "") + " (" + resolver.source()
				+ ") disagrees with rank " + this.rank + " of " + this.worldSize + " (" + this.selected.source() + ")";
	}

}
