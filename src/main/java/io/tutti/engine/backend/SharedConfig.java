package io.tutti.engine.backend;

import java.util.Arrays;
import java.util.Locale;

import io.tutti.engine.algorithm.AlgorithmOverrides;

/**
 * What all ranks must do alike, so that rank 0's counts for all: what may carry data, and
 * which algorithms are used instead of the table's.
 *
 * @param transport what may carry data
 * @param algorithms what is used instead of the table's
 */
public record SharedConfig(TransportChoice transport, AlgorithmOverrides algorithms) {

	/** What nobody asked to be otherwise. */
	public static final SharedConfig DEFAULT = new SharedConfig(TransportChoice.AUTO, AlgorithmOverrides.NONE);

	private static final String SEPARATOR = ";";

	/**
	 * Reads what {@link #toString()} wrote on another rank.
	 * @throws IllegalArgumentException if it is something else
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

	/** How people read it: {@code auto}, or {@code tcp with all-reduce=ring}. */
	String describe() {
		String chosen = this.algorithms.toString();
		return label(this.transport) + (chosen.isEmpty() ? "" : " with " + chosen);
	}

	/** The transport and the algorithms; read back with {@link #parse}. */
	@Override
	public String toString() {
		return label(this.transport) + SEPARATOR + this.algorithms;
	}

}
