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

	private boolean computed;

	/** Address and version of the gradient tensor before the last accumulation. */
	private long addressBefore;

	private long versionBefore;

	GradientSlot(Tensor parameter, MemorySegment memory) {
		this.parameter = parameter;
		this.gradient = TensorMemory.shapedLike(parameter, memory);
		this.gradient.retainReference();
		this.memory = memory;
	}

	Tensor parameter() {
		return this.parameter;
	}

	/** Records the state of the gradient before autograd may accumulate into it. */
	void announce() {
		try (Tensor current = this.parameter.grad()) {
			this.addressBefore = address(current);
			this.versionBefore = version(current);
		}
	}

	/**
	 * Whether autograd has accumulated into the gradient since {@link #announce()}.
	 * {@code torch.grad} calls the hooks too, but accumulates nothing.
	 */
	boolean isAccumulated() {
		try (Tensor current = this.parameter.grad()) {
			return address(current) != this.addressBefore || version(current) != this.versionBefore;
		}
	}

	/**
	 * Records that a backward pass has computed the gradient.
	 * @return whether it is the first time in this step
	 */
	boolean complete() {
		boolean first = !this.computed;
		this.computed = true;
		return first;
	}

	/** Prepares the slot for the next backward pass. */
	void nextStep() {
		this.computed = false;
	}

	private static long address(Tensor gradient) {
		return gradient.defined() ? TensorMemory.address(gradient) : 0;
	}

	private static long version(Tensor gradient) {
		return gradient.defined() ? gradient._version() : 0;
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
