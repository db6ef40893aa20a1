package io.tutti.engine.backend.nccl;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import io.tutti.engine.device.DeviceDataType;

/**
 * Encodes a number as one element of a type, in native byte order.
 */
final class ScalarBytes {

	private ScalarBytes() {
	}

	/**
	 * Rounds to the nearest element.
	 * @throws UnsupportedOperationException if the type has 8 bits, too few for a useful
	 * factor
	 * @throws IllegalArgumentException if the type is an integer and the value is not
	 */
	static byte[] of(double value, DeviceDataType type) {
		ByteBuffer element = ByteBuffer.allocate(type.bytes()).order(ByteOrder.nativeOrder());
		switch (type) {
			case FLOAT64 -> element.putDouble(value);
			case FLOAT32 -> element.putFloat((float) value);
			case FLOAT16 -> element.putShort(Float.floatToFloat16((float) value));
			case BFLOAT16 -> element.putShort(bfloat16((float) value));
			case INT32, UINT32 -> element.putInt((int) whole(value, type));
			case INT64, UINT64 -> element.putLong(whole(value, type));
			case INT8, UINT8, FLOAT8_E4M3, FLOAT8_E5M2 ->
				throw new UnsupportedOperationException("a pre-multiplied sum of " + type
						+ " is not offered: the factor has too few bits; multiply in a wider type");
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

	private static long whole(double value, DeviceDataType type) {
		if (value != Math.rint(value)) {
			throw new IllegalArgumentException("the factor of a sum of " + type + " must be whole, got " + value);
		}
		return (long) value;
	}

}
