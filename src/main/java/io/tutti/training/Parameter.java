package io.tutti.training;

import io.tutti.training.internal.TensorMemory;
import org.bytedeco.pytorch.Tensor;

/**
 * A tensor of a model under its first name.
 */
record Parameter(String name, Tensor tensor) {

	/** Such as {@code parameter layer.weight of shape 4x3}. */
	@Override
	public String toString() {
		return "parameter " + this.name + " of shape " + TensorMemory.shape(this.tensor);
	}

}
