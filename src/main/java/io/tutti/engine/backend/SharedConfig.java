package io.tutti.engine.backend;

import java.util.Arrays;
import java.util.Locale;

import io.tutti.engine.algorithm.AlgorithmOverrides;

/**
 * Settings that must be the same on all ranks; rank 0's apply.
 *
 * @param transport the transports that may be used
 * @param algorithms algorithms that override the default table
 * @param crossMemoryAttach whether ranks of one host may read each other's private
 * memory; {@code false} on any rank of a group applies to it
 */
public record SharedConfig(TransportChoice transport, AlgorithmOverrides algorithms, boolean crossMemoryAttach) {

	/** The default configuration. */
	public static final SharedConfig DEFAULT = new SharedConfig(TransportChoice.AUTO, AlgorithmOverrides.NONE);

	private static final String SEPARATOR = ";";

	private static final int FIELDS = 3;

	/** A configuration with cross-memory attach. */
	public SharedConfig(TransportChoice transport, AlgorithmOverrides algorithms) {
		this(transport, algorithms, true);
	}

	/**
	 * Parses the output of {@link #toString()} from another rank.
	 * @throws IllegalArgumentException if the text is invalid
	 */
	static SharedConfig parse(String text) {
		String[] fields = text.split(SEPARATOR, FIELDS);
		if (fields.length < FIELDS) {
			throw new IllegalArgumentException("expected transport;cross-memory-attach;algorithms, got " + text);
		}
		String transport = fields[0];
		TransportChoice choice = Arrays.stream(TransportChoice.values())
			.filter((candidate) -> label(candidate).equals(transport))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException(
					"transport must be one of " + Arrays.toString(TransportChoice.values()) + ", got " + transport));
		return new SharedConfig(choice, AlgorithmOverrides.from(fields[2]), Boolean.parseBoolean(fields[1]));
	}

	private static String label(TransportChoice transport) {
		return transport.name().toLowerCase(Locale.ROOT);
	}

	/** A readable form, such as {@code auto} or {@code tcp with all-reduce=ring}. */
	String describe() {
		String chosen = this.algorithms.toString();
		return label(this.transport) + (this.crossMemoryAttach ? "" : " without cross-memory attach")
				+ (chosen.isEmpty() ? "" : " with " + chosen);
	}

	/** All fields; parsed by {@link #parse}. */
	@Override
	public String toString() {
		return String.join(SEPARATOR, label(this.transport), String.valueOf(this.crossMemoryAttach),
				this.algorithms.toString());
	}

}
