package io.tutti.training;

import java.lang.foreign.MemorySegment;

import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;

/**
 * The place of one parameter's gradient in its bucket.
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
	 * Notes that the backward pass has computed the gradient.
	 * @return whether it had not yet in this step
	 */
	boolean announce() {
		boolean first = !this.announced;
		this.announced = true;
		return first;
	}

	/** Makes the slot ready for the next backward pass. */
	void nextStep() {
		this.announced = false;
	}

	/** Makes the slot the parameter's gradient, so that autograd adds into it. */
	void attach() {
		this.parameter.mutable_grad().put(this.gradient);
	}

	/**
	 * Sees to it that the slot holds this step's gradient, whoever has replaced or
	 * dropped the gradient tensor since ({@code Optimizer.zero_grad()} drops it).
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

	/** Leaves the parameter without a gradient: the memory is about to go. */
	void detach() {
		this.parameter.mutable_grad().reset();
		this.gradient.releaseReference();
	}

}
