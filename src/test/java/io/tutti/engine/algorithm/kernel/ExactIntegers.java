package io.tutti.engine.algorithm.kernel;

import java.math.BigInteger;

import io.tutti.ReduceOp;

/**
 * Integers of a fixed width that wrap around.
 *
 * @param bits width
 * @param signed whether in two's complement
 */
record ExactIntegers(int bits, boolean signed) implements ExactArithmetic {

	@Override
	public long combine(ReduceOp op, long left, long right) {
		BigInteger a = value(left);
		BigInteger b = value(right);
		return wrap(switch (op) {
			case SUM, AVERAGE -> a.add(b);
			case PRODUCT -> a.multiply(b);
			case MIN -> a.min(b);
			case MAX -> a.max(b);
			case BITWISE_AND -> a.and(b);
			case BITWISE_OR -> a.or(b);
			case BITWISE_XOR -> a.xor(b);
			case LOGICAL_AND -> flag(a.signum() != 0 && b.signum() != 0);
			case LOGICAL_OR -> flag(a.signum() != 0 || b.signum() != 0);
			case LOGICAL_XOR -> flag((a.signum() != 0) != (b.signum() != 0));
		});
	}

	@Override
	public long divide(long value, int divisor) {
		return wrap(value(value).divide(BigInteger.valueOf(divisor)));
	}

	@Override
	public long[] edges() {
		long highest = 1L << (this.bits - 1);
		return new long[] { 0, 1, 2, 3, 7, mask(-1), mask(-2), mask(-7), highest, mask(highest + 1), highest - 1 };
	}

	private static BigInteger flag(boolean value) {
		return value ? BigInteger.ONE : BigInteger.ZERO;
	}

	private BigInteger value(long pattern) {
		BigInteger unsigned = BigInteger.valueOf(pattern).mod(BigInteger.TWO.pow(this.bits));
		boolean negative = this.signed && unsigned.testBit(this.bits - 1);
		return negative ? unsigned.subtract(BigInteger.TWO.pow(this.bits)) : unsigned;
	}

	private long wrap(BigInteger value) {
		return mask(value.longValue());
	}

	private long mask(long value) {
		return value & (-1L >>> (Long.SIZE - this.bits));
	}

}
