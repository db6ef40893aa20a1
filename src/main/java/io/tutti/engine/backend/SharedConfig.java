package io.tutti.engine.backend;

import java.util.Arrays;
import java.util.Locale;

import io.tutti.engine.algorithm.AlgorithmOverrides;

/**
 * Settings that must be the same on all ranks; rank 0's apply.
 *
 * @param transport the transports that may be used
 * @param algorithms algorithms that override the default table
 */
public record SharedConfig(TransportChoice transport, AlgorithmOverrides algorithms) {

	/** The default configuration. */
	public static final SharedConfig DEFAULT = new SharedConfig(TransportChoice.AUTO, AlgorithmOverrides.NONE);

	private static final String SEPARATOR = ";";

	/**
	 * Parses the output of {@link #toString()} from another rank.
	 * @throws IllegalArgumentException if the text is invalid
	 */
	static SharedConfig parse(String text) {
		int end = text.indexOf(SEPARATOR);
		if (end < 0) {
			throw new IllegalArgumentException("expected transport;algorithms, got " + text);
		}
		String transport = text.substring(0, end);
		TransportChoice choice = Arrays.stream(TransportChoice.values())
			.filter((candidate) -> label(candidate).equals(transport))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException(
					"transport must be one of " + Arrays.toString(TransportChoice.values()) + ", got " + transport));
		return new SharedConfig(choice, AlgorithmOverrides.from(text.substring(end + 1)));
	}

	private static String label(TransportChoice transport) {
		return transport.name().toLowerCase(Locale.ROOT);
	}

	/** A readable form, such as {@code auto} or {@code tcp with all-reduce=ring}. */
	String describe() {
		String chosen = this.algorithms.toString();
		return label(this.transport) + (chosen.isEmpty() ? "" : " with " + chosen);
	}

	/** The transport and the algorithms; parsed by {@link #parse}. */
	@Override
	public String toString() {
		return label(this.transport) + SEPARATOR + this.algorithms;
	}

}
