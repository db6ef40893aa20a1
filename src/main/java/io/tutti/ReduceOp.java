package io.tutti;

/**
 * The operator that combines the ranks' operands into one result.
 */
public enum ReduceOp {

	/** Sum; integers wrap around. */
	SUM("sum"),
	/** Product; integers wrap around. */
	PRODUCT("product"),
	/** Minimum; NaN if any operand is NaN. */
	MIN("min"),
	/** Maximum; NaN if any operand is NaN. */
	MAX("max"),
	/** Sum divided by the world size; integers round towards zero. */
	AVERAGE("average");

	private static final ReduceOp[] VALUES = values();

	private final String label;

	ReduceOp(String label) {
		this.label = label;
	}

	/** The name in configuration and output, such as {@code sum}. */
	public String label() {
		return this.label;
	}

	/**
	 * The operator with an ordinal received from a peer.
	 * @throws IllegalArgumentException if no operator has that ordinal
	 */
	public static ReduceOp ofOrdinal(int ordinal) {
		if (ordinal < 0 || ordinal >= VALUES.length) {
			throw new IllegalArgumentException(
					"operator ordinal must be in 0.." + (VALUES.length - 1) + ", got " + ordinal);
		}
		return VALUES[ordinal];
	}

	@Override
	public String toString() {
		return this.label;
	}

}
