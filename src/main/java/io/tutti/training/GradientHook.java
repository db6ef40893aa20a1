package io.tutti.training;

import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorBase;
import org.bytedeco.pytorch.VoidTensorHook;

/**
 * Tells when the backward pass has computed a parameter's gradient, just before it adds
 * it. Lets nothing be thrown into native code.
 */
final class GradientHook extends VoidTensorHook {

	private final Tensor parameter;

	private final Runnable action;

	private final int handle;

	/** Watches a parameter until {@link #remove()}. */
	GradientHook(Tensor parameter, Runnable action) {
		this.parameter = parameter;
		this.action = action;
		retainReference();
		this.handle = parameter.register_hook(this);
	}

	@Override
	public void call(TensorBase gradient) {
		this.action.run();
	}

	void remove() {
		this.parameter.remove_hook(this.handle);
		releaseReference();
	}

}
