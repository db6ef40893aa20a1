package io.tutti.training;

import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorBase;
import org.bytedeco.pytorch.VoidTensorHook;

/**
 * Runs an action when the backward pass has computed a parameter's gradient, just before
 * it is accumulated. Native code calls the hook, so the action must not throw.
 */
final class GradientHook extends VoidTensorHook {

	private final Tensor parameter;

	private final Runnable action;

	private final int handle;

	/** Registers the hook, until {@link #remove()}. */
	GradientHook(Tensor parameter, Runnable action) {
		this.parameter = parameter;
		this.action = action;
		retainReference();
		this.handle = parameter.register_hook(this);
	}

	/** Closes the gradient: autograd copies one that anything else refers to. */
	@Override
	public void call(TensorBase gradient) {
		gradient.close();
		this.action.run();
	}

	void remove() {
		this.parameter.remove_hook(this.handle);
		releaseReference();
	}

}
