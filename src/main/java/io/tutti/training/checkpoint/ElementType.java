package io.tutti.training.checkpoint;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.jspecify.annotations.Nullable;

/**
 * Element types of the safetensors format, under the names of the format.
 */
enum ElementType {

	BOOL(1, ScalarType.Bool), U8(1, ScalarType.Byte), I8(1, ScalarType.Char), U16(2, ScalarType.UInt16),
	I16(2, ScalarType.Short), F16(2, ScalarType.Half), BF16(2, ScalarType.BFloat16), U32(4, ScalarType.UInt32),
	I32(4, ScalarType.Int), F32(4, ScalarType.Float), U64(8, ScalarType.UInt64), I64(8, ScalarType.Long),
	F64(8, ScalarType.Double);

	private static final Map<ScalarType, ElementType> BY_SCALAR_TYPE = new EnumMap<>(ScalarType.class);

	static {
		for (ElementType type : values()) {
			BY_SCALAR_TYPE.put(type.scalarType, type);
		}
	}

	private final int bytes;

	private final ScalarType scalarType;

	ElementType(int bytes, ScalarType scalarType) {
		this.bytes = bytes;
		this.scalarType = scalarType;
	}

	/** Size of an element in bytes. */
	int bytes() {
		return this.bytes;
	}

	ScalarType scalarType() {
		return this.scalarType;
	}

	/** The type of a name in the format, {@code null} if there is none. */
	static @Nullable ElementType named(String name) {
		return Arrays.stream(values()).filter((type) -> type.name().equals(name)).findFirst().orElse(null);
	}

	/**
	 * The type of a tensor's elements.
	 * @throws IllegalArgumentException if the format lacks the type
	 */
	static ElementType of(String name, Tensor tensor) {
		ScalarType scalarType = tensor.scalar_type().intern();
		ElementType type = BY_SCALAR_TYPE.get(scalarType);
		if (type == null) {
			throw new IllegalArgumentException(
					"tensor " + name + " has element type " + scalarType + ", which a checkpoint cannot hold");
		}
		return type;
	}

}
