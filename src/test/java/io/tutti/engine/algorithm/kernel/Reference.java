package io.tutti.engine.algorithm.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.function.BinaryOperator;

import io.tutti.engine.DataType;
import io.tutti.engine.ReduceOp;

/**
 * What a reduction of two elements is, computed without haste.
 */
final class Reference {

	private Reference() {
	}

	/** An element, as a Float, a Double or a BigInteger; all NaNs are one. */
	static Object get(MemorySegment memory, DataType type, int offset, long index) {
		long at = offset + index * type.bytes();
		return switch (type) {
			case FLOAT32 -> memory.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at);
			case FLOAT64 -> memory.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, at);
			case FLOAT16 -> Float.float16ToFloat(memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, at));
			case BFLOAT16 -> Float.intBitsToFloat(memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, at) << 16);
			case INT8 -> BigInteger.valueOf(memory.get(ValueLayout.JAVA_BYTE, at));
			case UINT8 -> BigInteger.valueOf(memory.get(ValueLayout.JAVA_BYTE, at) & 0xff);
			case INT32 -> BigInteger.valueOf(memory.get(ValueLayout.JAVA_INT_UNALIGNED, at));
			case INT64 -> BigInteger.valueOf(memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at));
		};
	}

	static Object combine(DataType type, ReduceOp op, Object left, Object right) {
		return switch (type) {
			case FLOAT32 -> (float) floating(op, (Float) left, (Float) right, true);
			case FLOAT64 -> floating(op, (Double) left, (Double) right, false);
			case FLOAT16 ->
				Float.float16ToFloat(Float.floatToFloat16((float) floating(op, (Float) left, (Float) right, true)));
			case BFLOAT16 -> nearestBfloat16((float) floating(op, (Float) left, (Float) right, true));
			case INT8, INT32, INT64 -> wrap(integer(op, left, right), type.bytes() * 8, true);
			case UINT8 -> wrap(integer(op, left, right), 8, false);
		};
	}

	private static double floating(ReduceOp op, double left, double right, boolean single) {
		return switch (op) {
			case SUM, AVERAGE -> single ? (float) left + (float) right : left + right;
			case PRODUCT -> single ? (float) left * (float) right : left * right;
			case MIN -> Math.min(left, right);
			case MAX -> Math.max(left, right);
		};
	}

	private static BigInteger integer(ReduceOp op, Object left, Object right) {
		BinaryOperator<BigInteger> operator = switch (op) {
			case SUM, AVERAGE -> BigInteger::add;
			case PRODUCT -> BigInteger::multiply;
			case MIN -> BigInteger::min;
			case MAX -> BigInteger::max;
		};
		return operator.apply((BigInteger) left, (BigInteger) right);
	}

	private static BigInteger wrap(BigInteger value, int bits, boolean signed) {
		BigInteger range = BigInteger.ONE.shiftLeft(bits);
		BigInteger wrapped = value.mod(range);
		return (signed && wrapped.testBit(bits - 1)) ? wrapped.subtract(range) : wrapped;
	}

	/** The nearest bfloat16, ties to even, by trying both neighbours. */
	private static float nearestBfloat16(float value) {
		if (Float.isNaN(value) || Float.isInfinite(value)) {
			return value;
		}
		float below = Float.intBitsToFloat(Float.floatToRawIntBits(value) & 0xffff0000);
		float above = Float.intBitsToFloat((Float.floatToRawIntBits(value) & 0xffff0000) + 0x10000);
		BigDecimal exact = new BigDecimal(value);
		BigDecimal down = exact.subtract(new BigDecimal(below)).abs();
		BigDecimal up = (Float.isInfinite(above) ? BigDecimal.TWO.pow(128) : new BigDecimal(Math.abs(above)))
			.subtract(exact.abs())
			.abs();
		int order = down.compareTo(up);
		if (order != 0) {
			return (order < 0) ? below : above;
		}
		return ((Float.floatToRawIntBits(below) >>> 16 & 1) == 0) ? below : above;
	}

}
