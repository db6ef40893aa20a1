package io.tutti.engine.algorithm;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import io.tutti.Collective;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.Transport;

/**
 * Selects the algorithm for a call: the override, if there is one, otherwise the first
 * row of {@link AlgorithmTable} that matches. The selection depends only on values that
 * are equal on all ranks of the group, so all ranks select the same algorithm. Owns the
 * algorithms' scratch memory.
 */
public final class AlgorithmSelector implements AutoCloseable {

	/** An algorithm and the largest call that it is used for. */
	private record Choice(long maxBytes, String name, Algorithm algorithm) {
	}

	private final int worldSize;

	private final Scratch scratch;

	private final Algorithm pairwise;

	/** In table order; indexed by the ordinal of the collective. */
	private final Choice[][] choices;

	/**
	 * Creates the algorithms of one group.
	 * @param overrides algorithms that replace those of the table; the same on every rank
	 */
	public AlgorithmSelector(GroupIdentity identity, Transport transport, ReductionKernels kernels,
			AlgorithmOverrides overrides) {
		this.worldSize = identity.worldSize();
		this.scratch = new Scratch(this.worldSize);
		AlgorithmFactory factory = new AlgorithmFactory(
				AlgorithmContext.of(identity, transport, kernels, this.scratch));
		this.pairwise = factory.create(Collective.ALL_TO_ALL, AlgorithmName.PAIRWISE);
		Collective[] collectives = Collective.values();
		this.choices = new Choice[collectives.length][];
		for (Collective collective : collectives) {
			AlgorithmName forced = overrides.of(collective);
			List<AlgorithmRule> rules = (forced != null)
					? List.of(new AlgorithmRule(collective, this.worldSize, Long.MAX_VALUE, forced))
					: AlgorithmTable.rules(collective, this.worldSize);
			this.choices[collective.ordinal()] = choices(factory, rules);
		}
	}

	private static Choice[] choices(AlgorithmFactory factory, List<AlgorithmRule> rules) {
		Map<AlgorithmName, Algorithm> created = new EnumMap<>(AlgorithmName.class);
		return rules.stream()
			.map((rule) -> new Choice(rule.maxBytes(), rule.algorithm().toString(),
					created.computeIfAbsent(rule.algorithm(), (name) -> factory.create(rule.collective(), name))))
			.toArray(Choice[]::new);
	}

	/** Returns the algorithm for a call and records its name in the call. */
	public Algorithm select(Call call) {
		if (call.uneven() && call.collective() == Collective.ALL_TO_ALL) {
			call.algorithm(AlgorithmName.PAIRWISE.toString());
			return this.pairwise;
		}
		long bytes = wholeBytes(call);
		for (Choice choice : this.choices[call.collective().ordinal()]) {
			if (bytes <= choice.maxBytes()) {
				call.algorithm(choice.name());
				return choice.algorithm();
			}
		}
		throw new IllegalStateException("no algorithm for " + call);
	}

	/**
	 * Bytes of the whole buffer, which holds the parts of all ranks where a collective
	 * has parts.
	 */
	private long wholeBytes(Call call) {
		return switch (call.collective()) {
			case ALL_REDUCE, REDUCE, BROADCAST, BARRIER, SCAN, EXCLUSIVE_SCAN -> call.bytes();
			case ALL_GATHER, REDUCE_SCATTER, GATHER, SCATTER, ALL_TO_ALL ->
				call.uneven() ? call.bytes() : call.bytes() * this.worldSize;
		};
	}

	/** The algorithms' working memory, for other algorithms of the same group. */
	public Scratch scratch() {
		return this.scratch;
	}

	@Override
	public void close() {
		this.scratch.close();
	}

}
