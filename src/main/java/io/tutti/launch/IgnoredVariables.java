package io.tutti.launch;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Notes one line for each launcher variable that is set but not used: disregarded ranks,
 * and world sizes without a rank.
 */
final class IgnoredVariables {

	private final Variables variables;

	private final List<RankResolver> resolvers;

	IgnoredVariables(Variables variables, List<RankResolver> resolvers) {
		this.variables = variables;
		this.resolvers = resolvers;
	}

	void note() {
		Map<String, List<String>> ranksBySize = new LinkedHashMap<>();
		for (RankResolver resolver : this.resolvers) {
			noteDisregarded(resolver);
			ranksBySize.computeIfAbsent(resolver.worldSizeVariable(this.variables), (size) -> new ArrayList<>())
				.add(resolver.rankVariable());
		}
		ranksBySize.forEach(this::noteSizeAlone);
	}

	private void noteDisregarded(RankResolver resolver) {
		if (this.variables.has(resolver.rankVariable())) {
			String reason = resolver.disregarded(this.variables);
			if (reason != null) {
				this.variables.note(reason);
			}
		}
	}

	private void noteSizeAlone(String size, List<String> ranks) {
		if (this.variables.has(size) && ranks.stream().noneMatch(this.variables::has)) {
			this.variables
				.note(this.variables.show(size) + " ignored: a world size without " + String.join(" or ", ranks));
		}
	}

}
