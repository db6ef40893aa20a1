package io.tutti.training;

import java.lang.foreign.MemorySegment;

import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;

/**
 * Memory of one parameter's gradient in its bucket.
 */
final class GradientSlot {

	private final Tensor parameter;

	private final Tensor gradient;

	private final MemorySegment memory;

	private boolean announced;

	GradientSlot(Tensor parameter, MemorySegment memory) {
		this.parameter = parameter;
		this.gradient = TensorMemory.shapedLike(parameter, memory);
		this.gradient.retainReference();
		this.memory = memory;
	}

	Tensor parameter() {
		return this.parameter;
	}

	/**
	 * Records that the backward pass has computed the gradient.
	 * @return whether it is the first time in this step
	 */
	boolean announce() {
		boolean first = !this.announced;
		this.announced = true;
		return first;
	}

	/** Prepares the slot for the next backward pass. */
	void nextStep() {
		this.announced = false;
	}

	/**
	 * Sets the slot as the parameter's gradient, so that autograd accumulates into it.
	 */
	void attach() {
		this.parameter.mutable_grad().put(this.gradient);
	}

	/**
	 * Copies this step's gradient into the slot if the gradient tensor was replaced, and
	 * zeroes the slot if it was dropped ({@code Optimizer.zero_grad()} drops it).
	 */
	void adopt() {
		try (Tensor current = this.parameter.grad()) {
			if (!current.defined()) {
				TensorMemory.zero(this.gradient);
			}
			else if (TensorMemory.address(current) != this.memory.address()) {
				copy(current);
			}
			else {
				return;
			}
		}
		attach();
	}

	private void copy(Tensor current) {
		try (NoGradGuard _ = new NoGradGuard()) {
			this.gradient.copy_(current);
		}
	}

	/** Removes the parameter's gradient before its memory is freed. */
	void detach() {
		this.parameter.mutable_grad().reset();
		this.gradient.releaseReference();
	}

}
