package io.tutti.engine.algorithm.kernel;

import java.math.BigInteger;

import io.tutti.ReduceOp;

/**
 * Floating-point numbers stored in one format and combined in another.
 *
 * @param stored format of the elements
 * @param computed format in which they are combined
 */
record ExactFloats(BinaryFormat stored, BinaryFormat computed) implements ExactArithmetic {

	@Override
	public long combine(ReduceOp op, long left, long right) {
		long a = convert(left, this.stored, this.computed);
		long b = convert(right, this.stored, this.computed);
		if (this.computed.isNan(a) || this.computed.isNan(b)) {
			return this.stored.nan();
		}
		long result = switch (op) {
			case SUM, AVERAGE -> add(a, b);
			case PRODUCT -> multiply(a, b);
			case MIN -> (order(a) < order(b)) ? a : b;
			case MAX -> (order(a) < order(b)) ? b : a;
			case BITWISE_AND, BITWISE_OR, BITWISE_XOR, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR ->
				throw new IllegalArgumentException(op + " has no floating-point operands");
		};
		return convert(result, this.computed, this.stored);
	}

	@Override
	public long divide(long value, int divisor) {
		long a = convert(value, this.stored, this.computed);
		if (this.computed.isNan(a) || this.computed.isInfinite(a) || this.computed.isZero(a)) {
			return convert(a, this.computed, this.stored);
		}
		long quotient = this.computed.round(this.computed.units(a), BigInteger.valueOf(divisor), this.computed.unit());
		return convert(quotient, this.computed, this.stored);
	}

	@Override
	public long[] edges() {
		int fraction = this.stored.fractionBits();
		long one = this.stored.round(BigInteger.ONE, BigInteger.ONE, 0);
		long normal = 1L << fraction;
		long[] magnitudes = { 0, 1, 2, normal - 1, normal, normal + 1, one - 1, one, one + 1, one | normal >> 1,
				this.stored.infinity() - 1, this.stored.infinity(), this.stored.nan(), this.stored.nan() + 1,
				this.stored.infinity() + 1 };
		long[] edges = new long[2 * magnitudes.length];
		for (int i = 0; i < magnitudes.length; i++) {
			edges[i] = magnitudes[i];
			edges[magnitudes.length + i] = this.stored.signed(true, magnitudes[i]);
		}
		return edges;
	}

	private long add(long a, long b) {
		if (this.computed.isInfinite(a) || this.computed.isInfinite(b)) {
			boolean opposite = this.computed.isInfinite(a) && this.computed.isInfinite(b) && a != b;
			return opposite ? this.computed.nan() : (this.computed.isInfinite(a) ? a : b);
		}
		BigInteger sum = this.computed.units(a).add(this.computed.units(b));
		if (sum.signum() == 0) {
			return this.computed.signed(this.computed.isNegative(a) && this.computed.isNegative(b), 0);
		}
		return this.computed.round(sum, BigInteger.ONE, this.computed.unit());
	}

	private long multiply(long a, long b) {
		boolean negative = this.computed.isNegative(a) != this.computed.isNegative(b);
		boolean zero = this.computed.isZero(a) || this.computed.isZero(b);
		if (this.computed.isInfinite(a) || this.computed.isInfinite(b)) {
			return zero ? this.computed.nan() : this.computed.signed(negative, this.computed.infinity());
		}
		if (zero) {
			return this.computed.signed(negative, 0);
		}
		BigInteger product = this.computed.units(a).multiply(this.computed.units(b));
		return this.computed.round(product, BigInteger.ONE, 2 * this.computed.unit());
	}

	/** Sort key of a number, with -0 below +0. */
	private long order(long bits) {
		long magnitude = this.computed.magnitude(bits);
		return this.computed.isNegative(bits) ? -1 - magnitude : magnitude;
	}

	private static long convert(long bits, BinaryFormat from, BinaryFormat to) {
		boolean negative = from.isNegative(bits);
		if (from.isNan(bits)) {
			return to.nan();
		}
		if (from.isInfinite(bits)) {
			return to.signed(negative, to.infinity());
		}
		return from.isZero(bits) ? to.signed(negative, 0) : to.round(from.units(bits), BigInteger.ONE, from.unit());
	}

}
