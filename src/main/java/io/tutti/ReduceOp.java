package io.tutti;

/**
 * The operator that combines the ranks' operands into one result. A result of a single
 * operand, as in a group of one rank or on the first rank of a scan, is that operand. On
 * device memory NCCL decides about NaN.
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
	/**
	 * Sum divided by the world size; integers round towards zero, and the sum of large
	 * ones wraps around before the division. Likewise a {@code FLOAT16} sum beyond 65,504
	 * is infinite, and so is its average.
	 */
	AVERAGE("average"),
	/** Bitwise and, of integers. */
	BITWISE_AND("bitwise-and"),
	/** Bitwise or, of integers. */
	BITWISE_OR("bitwise-or"),
	/** Bitwise exclusive or, of integers. */
	BITWISE_XOR("bitwise-xor"),
	/** 1 if no integer operand is 0, otherwise 0. */
	LOGICAL_AND("logical-and"),
	/** 0 if every integer operand is 0, otherwise 1. */
	LOGICAL_OR("logical-or"),
	/** 1 if an odd number of integer operands is not 0, otherwise 0. */
	LOGICAL_XOR("logical-xor");

	private final String label;

	ReduceOp(String label) {
		this.label = label;
	}

	/**
	 * The name in configuration and output, such as {@code sum}.
	 * @return the name in configuration and output, such as {@code sum}
	 */
	public String label() {
		return this.label;
	}

	/**
	 * Whether it combines elements of a type; bitwise and logical operators need
	 * integers.
	 * @param type element type of the buffers
	 * @return whether it combines elements of a type; bitwise and logical operators need
	 * integers
	 */
	public boolean appliesTo(DataType type) {
		return switch (this) {
			case SUM, PRODUCT, MIN, MAX, AVERAGE -> true;
			case BITWISE_AND, BITWISE_OR, BITWISE_XOR, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR -> type.isInteger();
		};
	}

	@Override
	public String toString() {
		return this.label;
	}

}
