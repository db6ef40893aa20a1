package io.tutti.engine.algorithm.kernel;

import java.math.BigInteger;

/**
 * A binary floating-point format as in IEEE 754; operates on bit patterns.
 *
 * @param exponentBits width of the exponent
 * @param fractionBits width of the fraction
 */
record BinaryFormat(int exponentBits, int fractionBits) {

	static final BinaryFormat BINARY16 = new BinaryFormat(5, 10);

	static final BinaryFormat BFLOAT16 = new BinaryFormat(8, 7);

	static final BinaryFormat BINARY32 = new BinaryFormat(8, 23);

	static final BinaryFormat BINARY64 = new BinaryFormat(11, 52);

	long infinity() {
		return ((1L << this.exponentBits) - 1) << this.fractionBits;
	}

	long nan() {
		return infinity() | 1L << (this.fractionBits - 1);
	}

	long signed(boolean negative, long magnitude) {
		return negative ? magnitude | 1L << (this.exponentBits + this.fractionBits) : magnitude;
	}

	boolean isNegative(long bits) {
		return (bits >>> (this.exponentBits + this.fractionBits) & 1) != 0;
	}

	long magnitude(long bits) {
		return bits & ((1L << (this.exponentBits + this.fractionBits)) - 1);
	}

	boolean isNan(long bits) {
		return magnitude(bits) > infinity();
	}

	boolean isInfinite(long bits) {
		return magnitude(bits) == infinity();
	}

	boolean isZero(long bits) {
		return magnitude(bits) == 0;
	}

	/** A finite number as a multiple of {@link #unit}. */
	BigInteger units(long bits) {
		long exponent = magnitude(bits) >>> this.fractionBits;
		long fraction = magnitude(bits) & ((1L << this.fractionBits) - 1);
		BigInteger units = (exponent == 0) ? BigInteger.valueOf(fraction)
				: BigInteger.valueOf(fraction | 1L << this.fractionBits).shiftLeft((int) exponent - 1);
		return isNegative(bits) ? units.negate() : units;
	}

	/** Exponent of two of the smallest number above zero. */
	int unit() {
		return 2 - (1 << (this.exponentBits - 1)) - this.fractionBits;
	}

	/**
	 * The number nearest to {@code numerator / denominator * 2^exponent}, ties to even.
	 * @param numerator not zero
	 * @param denominator above zero
	 */
	long round(BigInteger numerator, BigInteger denominator, int exponent) {
		BigInteger magnitude = numerator.abs();
		int precision = this.fractionBits + 1;
		int lastPlace = Math.max(unit(), floorLog2(magnitude, denominator) + exponent - precision + 1);
		int shift = exponent - lastPlace;
		BigInteger dividend = magnitude.shiftLeft(Math.max(shift, 0));
		BigInteger divisor = denominator.shiftLeft(Math.max(-shift, 0));
		BigInteger[] parts = dividend.divideAndRemainder(divisor);
		int toHalf = parts[1].shiftLeft(1).compareTo(divisor);
		boolean up = toHalf > 0 || toHalf == 0 && parts[0].testBit(0);
		long significand = parts[0].longValueExact() + (up ? 1 : 0);
		if (lastPlace - unit() >= 1 << this.exponentBits) {
			return signed(numerator.signum() < 0, infinity());
		}
		long rounded = ((long) (lastPlace - unit()) << this.fractionBits) + significand;
		return signed(numerator.signum() < 0, Math.min(rounded, infinity()));
	}

	private static int floorLog2(BigInteger numerator, BigInteger denominator) {
		int difference = numerator.bitLength() - denominator.bitLength();
		BigInteger scaled = denominator.shiftLeft(Math.max(difference, 0));
		boolean below = numerator.shiftLeft(Math.max(-difference, 0)).compareTo(scaled) < 0;
		return below ? difference - 1 : difference;
	}

}
