package io.tutti.engine.algorithm.kernel;

/**
 * Conversions of bfloat16, the upper half of a float32.
 */
final class Bfloat16 {

	private static final int SHIFT = 16;

	private static final int QUIET_NAN = 0x7fc0;

	private Bfloat16() {
	}

	static float toFloat(short bits) {
		return Float.intBitsToFloat(bits << SHIFT);
	}

	/** Rounds to nearest even; NaN stays NaN. */
	static short ofFloat(float value) {
		int bits = Float.floatToRawIntBits(value);
		int rounded = bits + 0x7fff + (bits >>> SHIFT & 1) >>> SHIFT;
		return (short) ((value != value) ? QUIET_NAN : rounded);
	}

}
