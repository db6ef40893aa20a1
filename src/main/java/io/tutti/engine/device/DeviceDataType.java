package io.tutti.engine.device;

import java.util.Locale;

import io.tutti.DataType;
import org.jspecify.annotations.Nullable;

/**
 * Element type of a device buffer. GPUs support more types than the engine's host
 * algorithms.
 */
public enum DeviceDataType {

	/** IEEE 754 binary32. */
	FLOAT32(4, DataType.FLOAT32),
	/** IEEE 754 binary64. */
	FLOAT64(8, DataType.FLOAT64),
	/** IEEE 754 binary16. */
	FLOAT16(2, DataType.FLOAT16),
	/** The upper half of a binary32. */
	BFLOAT16(2, DataType.BFLOAT16),
	/** Two's complement, 8 bits. */
	INT8(1, DataType.INT8),
	/** Unsigned, 8 bits. */
	UINT8(1, DataType.UINT8),
	/** Two's complement, 32 bits. */
	INT32(4, DataType.INT32),
	/** Two's complement, 64 bits. */
	INT64(8, DataType.INT64),
	/** Unsigned, 32 bits. */
	UINT32(4, null),
	/** Unsigned, 64 bits. */
	UINT64(8, null),
	/** 8 bits, 4 of them exponent. */
	FLOAT8_E4M3(1, null),
	/** 8 bits, 5 of them exponent. */
	FLOAT8_E5M2(1, null);

	private final String label = name().toLowerCase(Locale.ROOT).replace('_', '-');

	private final int bytes;

	private final @Nullable DataType host;

	DeviceDataType(int bytes, @Nullable DataType host) {
		this.bytes = bytes;
		this.host = host;
	}

	/**
	 * {@return display name, such as {@code float32}}
	 */
	public String label() {
		return this.label;
	}

	/**
	 * {@return bytes per element}
	 */
	public int bytes() {
		return this.bytes;
	}

	/**
	 * {@return the same type in host memory, or {@code null} if host memory has no such
	 * type}
	 */
	public @Nullable DataType host() {
		return this.host;
	}

	/**
	 * The same type in device memory.
	 * @param type type in host memory
	 * @return the same type in device memory
	 */
	public static DeviceDataType of(DataType type) {
		return valueOf(type.name());
	}

	@Override
	public String toString() {
		return this.label;
	}

}
