package io.tutti.engine.backend.nccl;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import io.tutti.ReduceOp;
import io.tutti.engine.device.DeviceDataType;

/**
 * A reduction of operands in device memory.
 */
public sealed interface DeviceReduction {

	/**
	 * An operator that host memory supports as well.
	 * @param op sum, product, minimum, maximum or average
	 * @return the reduction
	 */
	static DeviceReduction of(ReduceOp op) {
		return new Plain(op);
	}

	/**
	 * The sum of all operands, each first multiplied by its rank's factor.
	 * @param factor this rank's factor
	 * @return the reduction
	 */
	static DeviceReduction premultipliedSum(double factor) {
		return new PremultipliedSum(factor);
	}

	/**
	 * An operator without a parameter.
	 *
	 * @param op the operator
	 */
	record Plain(ReduceOp op) implements DeviceReduction {
	}

	/**
	 * A sum of pre-multiplied operands.
	 *
	 * @param factor this rank's factor, rounded to the operands' type
	 */
	record PremultipliedSum(double factor) implements DeviceReduction {

		/**
		 * The factor as one element in native byte order, rounded to nearest, for types
		 * of 16 bits after it was rounded to 32.
		 * @throws UnsupportedOperationException if the type has 8 bits, too few for a
		 * useful factor
		 * @throws IllegalArgumentException if the type is an integer that cannot be the
		 * factor
		 */
		byte[] as(DeviceDataType type) {
			ByteBuffer element = ByteBuffer.allocate(type.bytes()).order(ByteOrder.nativeOrder());
			switch (type) {
				case FLOAT64 -> element.putDouble(this.factor);
				case FLOAT32 -> element.putFloat((float) this.factor);
				case FLOAT16 -> element.putShort(Float.floatToFloat16((float) this.factor));
				case BFLOAT16 -> element.putShort(bfloat16((float) this.factor));
				case INT32 -> element.putInt((int) whole(type, -0x1p31, 0x1p31));
				case UINT32 -> element.putInt((int) whole(type, 0, 0x1p32));
				case INT64 -> element.putLong(whole(type, -0x1p63, 0x1p63));
				case UINT64 -> element.putLong(whole(type, 0, 0x1p64));
				case INT8, UINT8, FLOAT8_E4M3, FLOAT8_E5M2 ->
					throw new UnsupportedOperationException("a pre-multiplied sum of " + type
							+ " is not supported: the factor has too few bits; multiply in a wider type");
			}
			return element.array();
		}

		/** Rounds to nearest even; preserves NaN. */
		private static short bfloat16(float value) {
			int bits = Float.floatToIntBits(value);
			if (Float.isNaN(value)) {
				return (short) (bits >>> 16);
			}
			return (short) (bits + 0x7FFF + (bits >>> 16 & 1) >>> 16);
		}

		/** The low bits of a whole number from {@code least} to below {@code limit}. */
		private long whole(DeviceDataType type, double least, double limit) {
			if (this.factor != Math.rint(this.factor) || this.factor < least || this.factor >= limit) {
				throw new IllegalArgumentException(
						"the factor of a sum of " + type + " must be a whole number in " + new BigDecimal(least) + ".."
								+ new BigDecimal(limit).subtract(BigDecimal.ONE) + ", got " + this.factor);
			}
			return new BigDecimal(this.factor).longValue();
		}

	}

}
