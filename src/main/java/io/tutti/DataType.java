package io.tutti;

/**
 * Element type of a collective's buffers, in native byte order in memory.
 */
public enum DataType {

	/** IEEE 754 binary32. */
	FLOAT32("float32", 4),
	/** IEEE 754 binary64. */
	FLOAT64("float64", 8),
	/**
	 * IEEE 754 binary16; combined in binary32 and rounded to nearest even at each step.
	 */
	FLOAT16("float16", 2),
	/**
	 * The upper half of a binary32; combined in binary32 and rounded to nearest even at
	 * each step.
	 */
	BFLOAT16("bfloat16", 2),
	/** Two's complement, 8 bits. */
	INT8("int8", 1),
	/** Unsigned, 8 bits. */
	UINT8("uint8", 1),
	/** Two's complement, 32 bits. */
	INT32("int32", 4),
	/** Two's complement, 64 bits. */
	INT64("int64", 8);

	private final String label;

	private final int bytes;

	DataType(String label, int bytes) {
		this.label = label;
		this.bytes = bytes;
	}

	/**
	 * The name in configuration and output, such as {@code float32}.
	 * @return the name in configuration and output, such as {@code float32}
	 */
	public String label() {
		return this.label;
	}

	/**
	 * Bytes per element.
	 * @return bytes per element
	 */
	public int bytes() {
		return this.bytes;
	}

	/**
	 * Whether elements are integers.
	 * @return whether elements are integers
	 */
	public boolean isInteger() {
		return switch (this) {
			case INT8, UINT8, INT32, INT64 -> true;
			case FLOAT32, FLOAT64, FLOAT16, BFLOAT16 -> false;
		};
	}

	@Override
	public String toString() {
		return this.label;
	}

}
