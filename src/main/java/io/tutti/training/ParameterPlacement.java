package io.tutti.training;

import java.util.List;
import java.util.Locale;

import io.tutti.ProcessGroup;
import io.tutti.engine.device.DeviceCollectives;
import org.bytedeco.pytorch.Device;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * The device of a parameter.
 *
 * @param kind libtorch's device type, such as {@code CPU} or {@code CUDA}
 * @param index index of the device; 0 in main memory
 */
record ParameterPlacement(torch.DeviceType kind, int index) {

	static ParameterPlacement of(Tensor tensor) {
		try (Device device = tensor.device()) {
			return new ParameterPlacement(device.type().intern(), Math.max(0, device.index()));
		}
	}

	/**
	 * Checks that parameters are float32 on one CPU or GPU, so that gradients can share
	 * buckets.
	 * @throws IllegalArgumentException if not; the message names the first such parameter
	 */
	static void requireOne(List<Tensor> parameters) {
		ParameterPlacement first = of(parameters.getFirst());
		for (Tensor parameter : parameters) {
			ParameterPlacement place = of(parameter);
			if (!place.equals(first)) {
				throw new IllegalArgumentException("parameters must all be on one device, the first is on " + first
						+ ", got a " + description(parameter, place));
			}
			if (!place.isKnown() || parameter.scalar_type().intern() != torch.ScalarType.Float) {
				throw new IllegalArgumentException("parameters must be float32 in main memory or on a GPU, got a "
						+ description(parameter, place));
			}
		}
	}

	private static String description(Tensor parameter, ParameterPlacement place) {
		return parameter.scalar_type().intern() + " of shape " + ReplicaLayout.shape(parameter) + " on " + place;
	}

	private boolean isKnown() {
		return this.kind == torch.DeviceType.CPU || this.kind == torch.DeviceType.CUDA;
	}

	/** Creates the gradient memory for parameters on this device. */
	GradientMemory memory(ProcessGroup group, @Nullable DeviceCollectives onDevice) {
		if (this.kind == torch.DeviceType.CPU) {
			return new HostGradients(group);
		}
		if (onDevice == null) {
			throw new IllegalArgumentException("the model is on " + this
					+ ": give DistributedDataParallel the DeviceCollectives of the group, or move the model to the CPU");
		}
		return new DeviceGradients(group, onDevice, this.index, () -> torch.cuda_synchronize(this.index));
	}

	@Override
	public String toString() {
		return (this.kind == torch.DeviceType.CPU) ? "cpu"
				: this.kind.toString().toLowerCase(Locale.ROOT) + ":" + this.index;
	}

}
