package io.tutti.training.checkpoint;

import java.util.Arrays;
import java.util.List;

import org.bytedeco.pytorch.Tensor;

/**
 * Name, element type and shape of a stored tensor.
 *
 * @param name name in the model, such as {@code hidden.weight}
 * @param type element type
 * @param shape sizes of the dimensions, empty for a scalar
 */
record TensorHeader(String name, ElementType type, List<Long> shape) {

	TensorHeader {
		shape = List.copyOf(shape);
		for (long size : shape) {
			if (size < 0) {
				throw new IllegalArgumentException("tensor " + name + " has a dimension of size " + size);
			}
		}
	}

	/**
	 * The header of a tensor.
	 * @throws IllegalArgumentException if a file cannot hold the type of the elements
	 */
	static TensorHeader of(String name, Tensor tensor) {
		return new TensorHeader(name, ElementType.of(name, tensor), Arrays.stream(tensor.shape()).boxed().toList());
	}

	/**
	 * Size of the data in bytes.
	 * @throws ArithmeticException if it exceeds the range of a long
	 */
	long bytes() {
		if (this.shape.contains(0L)) {
			return 0;
		}
		return this.shape.stream().reduce((long) this.type.bytes(), Math::multiplyExact);
	}

	/** Element type and shape, such as {@code F32 128x64}, for messages. */
	String describe() {
		return this.type + (this.shape.isEmpty() ? " scalar"
				: " " + String.join("x", this.shape.stream().map((size) -> Long.toString(size)).toList()));
	}

}
