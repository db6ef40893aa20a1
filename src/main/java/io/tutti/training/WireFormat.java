package io.tutti.training;

import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Sends gradients in half the bytes of float32. Ranks add in this type, so the result is
 * less precise; gradients keep their own type in the optimizer.
 */
public enum WireFormat implements BucketHook {

	/**
	 * Eleven significant bits. Values, and sums over ranks, beyond 65504 become infinite;
	 * gradients below 6e-8 become zero.
	 */
	FLOAT16(torch.ScalarType.Half),
	/** Eight significant bits, with the range of float32. */
	BFLOAT16(torch.ScalarType.BFloat16);

	private final torch.ScalarType type;

	WireFormat(torch.ScalarType type) {
		this.type = type;
	}

	/** Gradients that have two bytes already are sent as they are. */
	@Override
	public Tensor beforeReduction(Tensor gradients) {
		return (gradients.element_size() > Short.BYTES) ? gradients.to(this.type) : gradients;
	}

	@Override
	public void afterReduction(Tensor reduced, Tensor gradients) {
		if (!reduced.is_same(gradients)) {
			gradients.copy_(reduced);
		}
	}

}
