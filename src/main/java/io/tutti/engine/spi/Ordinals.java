package io.tutti.engine.spi;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ReduceOp;

/**
 * The constants with an ordinal that a peer sent or a record holds. The arrays of
 * constants are shared, since {@code values()} copies them.
 */
public final class Ordinals {

	private static final Collective[] COLLECTIVES = Collective.values();

	private static final DataType[] TYPES = DataType.values();

	private static final ReduceOp[] OPERATORS = ReduceOp.values();

	private Ordinals() {
	}

	/**
	 * The collective with an ordinal.
	 * @throws IllegalArgumentException if no collective has it
	 */
	public static Collective collective(int ordinal) {
		return constant("collective", COLLECTIVES, ordinal);
	}

	/**
	 * The type with an ordinal.
	 * @throws IllegalArgumentException if no type has it
	 */
	public static DataType type(int ordinal) {
		return constant("data type", TYPES, ordinal);
	}

	/**
	 * The operator with an ordinal.
	 * @throws IllegalArgumentException if no operator has it
	 */
	public static ReduceOp operator(int ordinal) {
		return constant("operator", OPERATORS, ordinal);
	}

	private static <T> T constant(String kind, T[] constants, int ordinal) {
		if (ordinal < 0 || ordinal >= constants.length) {
			throw new IllegalArgumentException(
					kind + " ordinal must be in 0.." + (constants.length - 1) + ", got " + ordinal);
		}
		return constants[ordinal];
	}

}
