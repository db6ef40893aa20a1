package io.tutti.engine.algorithm;

import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.tutti.Collective;
import org.jspecify.annotations.Nullable;

/**
 * Algorithms that replace those of the table for some collectives, such as
 * {@code all-reduce=ring,broadcast=chain}. Must be the same on every rank.
 */
public final class AlgorithmOverrides {

	/** No overrides. */
	public static final AlgorithmOverrides NONE = new AlgorithmOverrides(Map.of());

	private final Map<Collective, AlgorithmName> chosen;

	private AlgorithmOverrides(Map<Collective, AlgorithmName> chosen) {
		this.chosen = chosen;
	}

	/**
	 * Parses comma-separated {@code collective=algorithm} pairs; a blank text means none.
	 * @throws IllegalArgumentException if a pair has no equals sign, or names an unknown
	 * collective or an algorithm that the collective does not have
	 */
	public static AlgorithmOverrides from(String text) {
		Map<Collective, AlgorithmName> chosen = new EnumMap<>(Collective.class);
		for (String pair : text.split(",")) {
			if (!pair.isBlank()) {
				int equals = pair.indexOf('=');
				if (equals < 0) {
					throw new IllegalArgumentException(
							"expected collective=algorithm, such as all-reduce=ring, got " + pair.strip());
				}
				Collective collective = collective(pair.substring(0, equals).strip());
				chosen.put(collective, algorithm(collective, pair.substring(equals + 1).strip()));
			}
		}
		return new AlgorithmOverrides(chosen);
	}

	private static Collective collective(String label) {
		for (Collective collective : Collective.values()) {
			if (collective.label().equals(label)) {
				return collective;
			}
		}
		throw new IllegalArgumentException("collective must be one of "
				+ Arrays.stream(Collective.values()).map(Collective::label).collect(Collectors.joining(", ")) + ", got "
				+ label);
	}

	private static AlgorithmName algorithm(Collective collective, String label) {
		List<AlgorithmName> offered = AlgorithmName.offered(collective);
		for (AlgorithmName name : offered) {
			if (name.toString().equals(label)) {
				return name;
			}
		}
		throw new IllegalArgumentException("algorithm for " + collective + " must be one of "
				+ offered.stream().map(AlgorithmName::toString).collect(Collectors.joining(", ")) + ", got " + label);
	}

	/** Whether there is an override for a collective. */
	public boolean names(Collective collective) {
		return this.chosen.containsKey(collective);
	}

	@Nullable AlgorithmName of(Collective collective) {
		return this.chosen.get(collective);
	}

	/** The pairs, in the order of {@link Collective}; {@link #from} parses the text. */
	@Override
	public String toString() {
		return Collections.unmodifiableMap(this.chosen)
			.entrySet()
			.stream()
			.map((entry) -> entry.getKey().label() + "=" + entry.getValue())
			.collect(Collectors.joining(","));
	}

}
