package io.tutti.training;

import java.lang.foreign.MemorySegment;

import org.bytedeco.pytorch.Tensor;

/**
 * The place of one parameter's gradient in its bucket.
 */
final class GradientSlot {

	private final Tensor parameter;

	private final Tensor view;

	private final MemorySegment memory;

	private boolean announced;

	GradientSlot(Tensor parameter, Tensor view, MemorySegment memory) {
		this.parameter = parameter;
		this.view = view;
		this.memory = memory;
		view.retainReference();
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
		this.parameter.mutable_grad().put(this.view);
	}

	/**
	 * Sees to it that the slot holds this step's gradient, whoever has replaced or
	 * dropped the gradient tensor since ({@code Optimizer.zero_grad()} drops it).
	 */
	void adopt() {
		try (Tensor gradient = this.parameter.grad()) {
			if (!gradient.defined()) {
				this.memory.fill((byte) 0);
			}
			else if (TensorMemory.address(gradient) != this.memory.address()) {
				this.view.copy_(gradient);
			}
			else {
				return;
			}
		}
		attach();
	}

	/** Leaves the parameter without a gradient: the memory is about to go. */
	void detach() {
		this.parameter.mutable_grad().reset();
		this.view.releaseReference();
	}

}
