package io.tutti.launch;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.tutti.engine.RankAssignment;

/**
 * Resolves this process's rank from its environment. The first set of variables whose
 * rank is present is selected and must be complete. Sets of lower precedence that
 * disagree are reported. Without any set a process is rank 0 of 1. Uses neither the
 * network nor the name service.
 */
public final class RankResolution {

	/**
	 * In order of precedence. Properties are set by hand. MPI launchers come before
	 * torchrun, so that a leftover {@code RANK} does not override them.
	 */
	private static final List<RankResolver> RESOLVERS = List.of(
			new RankResolver("properties", ResolutionSettings.RANK, ResolutionSettings.WORLD_SIZE),
			new OpenMpiRankResolver(), new PmiRankResolver(), new TorchrunRankResolver(), new SlurmRankResolver(),
			new KubeflowRankResolver(), new PodIndexRankResolver(PodIndexRankResolver.JOB_INDEX),
			new PodIndexRankResolver(PodIndexRankResolver.STATEFUL_SET_INDEX));

	private final Variables variables;

	private final ResolutionSettings settings;

	private RankResolution(Map<String, String> environment, ResolutionSettings settings) {
		this.variables = new Variables(environment, settings);
		this.settings = settings;
	}

	/**
	 * Resolves this process's rank.
	 * @param environment the environment variables
	 * @param settings the properties
	 * @throws ResolutionException if the selected set is incomplete, malformed or out of
	 * range, if ranks are on several hosts and no master address is set, or if sets
	 * disagree and conflicts are not allowed
	 */
	public static ResolvedRank resolve(Map<String, String> environment, ResolutionSettings settings) {
		return new RankResolution(environment, settings).resolve();
	}

	private ResolvedRank resolve() {
		for (int i = 0; i < RESOLVERS.size(); i++) {
			RankResolver resolver = RESOLVERS.get(i);
			if (this.variables.has(resolver.rankVariable()) && resolver.disregarded(this.variables) == null) {
				return resolveBy(resolver, RESOLVERS.subList(i + 1, RESOLVERS.size()));
			}
		}
		return alone();
	}

	private ResolvedRank resolveBy(RankResolver resolver, List<RankResolver> lower) {
		String sizeVariable = resolver.worldSizeVariable(this.variables);
		String rankShown = this.variables.show(resolver.rankVariable());
		int worldSize = this.variables.requiredNumber(sizeVariable, 1, WholeNumber.MAX_WORLD_SIZE,
				"the world size that belongs to " + rankShown);
		int rank = this.variables.requiredNumber(resolver.rankVariable(), 0, worldSize - 1,
				this.variables.show(sizeVariable) + " is the world size");
		RankAssignment assignment = assign(resolver, rank, worldSize);
		long generation = resolver.generation(this.variables);
		List<String> conflicts = new RankConflicts(this.variables, resolver, rank, worldSize).among(lower);
		if (!conflicts.isEmpty() && this.settings.onConflict() == OnConflict.FAIL) {
			throw new ResolutionException(resolver.rankVariable(), this.variables.peek(resolver.rankVariable()),
					"agreement with the other launchers' variables, but " + String.join("; ", conflicts)
							+ ". Unset the leftover variables, or set " + ResolutionSettings.ON_CONFLICT + "=warn");
		}
		return finish(assignment, resolver.source(), conflicts, generation);
	}

	private RankAssignment assign(RankResolver resolver, int rank, int worldSize) {
		DeclaredLocalRank claim = resolver.local(this.variables, worldSize);
		String address = this.variables.host(ResolutionSettings.MASTER_ADDRESS);
		if (address == null) {
			address = resolver.masterAddress(this.variables);
		}
		LocalPlacement place = LocalPlacement.complete(claim, rank, worldSize, address);
		if (address == null) {
			address = defaultAddress(resolver, place, worldSize);
		}
		Integer port = this.variables.port(ResolutionSettings.MASTER_PORT);
		return new RankAssignment(rank, worldSize, place.localRank(), place.localWorldSize(), address,
				(port != null) ? port : resolver.masterPort(this.variables, this.settings.portOffset()));
	}

	private static String defaultAddress(RankResolver resolver, LocalPlacement place, int worldSize) {
		if (place.localWorldSize() == worldSize) {
			return RankAssignment.DEFAULT_MASTER_ADDRESS;
		}
		throw new ResolutionException(RankResolver.MASTER_ADDR, null,
				"the host of rank 0, since only " + place.localWorldSize() + " of " + worldSize
						+ " ranks are on this host; add: " + resolver.masterAddressAdvice());
	}

	private ResolvedRank alone() {
		for (String variable : List.of(RankResolver.MASTER_ADDR, RankResolver.MASTER_PORT)) {
			if (this.variables.has(variable)) {
				this.variables.note(this.variables.show(variable) + " ignored: no rank is set, so this is rank 0 of 1");
			}
		}
		String address = this.variables.host(ResolutionSettings.MASTER_ADDRESS);
		Integer port = this.variables.port(ResolutionSettings.MASTER_PORT);
		return finish(new RankAssignment(0, 1, 0, 1,
				Objects.requireNonNullElse(address, RankAssignment.DEFAULT_MASTER_ADDRESS),
				Objects.requireNonNullElse(port, RankAssignment.DEFAULT_MASTER_PORT)), "none", List.of(), -1);
	}

	private ResolvedRank finish(RankAssignment assignment, String source, List<String> conflicts, long generation) {
		noteIgnored();
		return new ResolvedRank(assignment, source, this.variables.used(), this.variables.notes(), conflicts,
				generation);
	}

	/** Notes disregarded ranks, and world sizes without a rank. */
	private void noteIgnored() {
		Map<String, List<String>> ranksBySize = new LinkedHashMap<>();
		for (RankResolver resolver : RESOLVERS) {
			String rank = resolver.rankVariable();
			String reason = this.variables.has(rank) ? resolver.disregarded(this.variables) : null;
			if (reason != null) {
				this.variables.note(reason);
			}
			ranksBySize.computeIfAbsent(resolver.worldSizeVariable(this.variables), (_) -> new ArrayList<>()).add(rank);
		}
		ranksBySize.forEach((size, ranks) -> {
			if (this.variables.has(size) && ranks.stream().noneMatch(this.variables::has)) {
				this.variables
					.note(this.variables.show(size) + " ignored: a world size without " + String.join(" or ", ranks));
			}
		});
	}

}
