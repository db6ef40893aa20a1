package io.tutti.training;

import java.util.List;
import java.util.Locale;

import io.tutti.ProcessGroup;
import io.tutti.engine.device.DeviceCollectives;
import io.tutti.training.internal.TensorMemory;
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
	 * Checks that parameters have types that can be reduced and are on one CPU or GPU.
	 * @throws IllegalArgumentException if not; the message names the first such parameter
	 */
	static void requireOne(List<Parameter> parameters) {
		ParameterPlacement first = of(parameters.getFirst().tensor());
		for (Parameter parameter : parameters) {
			ParameterPlacement place = of(parameter.tensor());
			if (!place.equals(first)) {
				throw new IllegalArgumentException("parameters must all be on one device, the first is on " + first
						+ ", got " + parameter + " on " + place);
			}
			if (!place.isHost() && place.kind() != torch.DeviceType.CUDA) {
				throw new IllegalArgumentException(
						"parameters must be in main memory or on a GPU, got " + parameter + " on " + place);
			}
			if (TensorMemory.type(parameter.tensor()).isEmpty()) {
				throw new IllegalArgumentException(
						"parameters that require a gradient must be float32, float64, float16 or bfloat16, got "
								+ parameter + " of type " + parameter.tensor().scalar_type().intern());
			}
		}
	}

	/** Whether the parameters are in main memory. */
	boolean isHost() {
		return this.kind == torch.DeviceType.CPU;
	}

	/** Creates the gradient memory for parameters on this device. */
	GradientMemory memory(ProcessGroup group, @Nullable DeviceCollectives onDevice) {
		if (isHost()) {
			return new HostGradients(group);
		}
		if (onDevice == null) {
			throw new IllegalArgumentException("the model is on " + this
					+ ": give DistributedDataParallel the DeviceCollectives of the group, or move the model to the CPU");
		}
		onDevice.requireGroup(group);
		return new DeviceGradients(group, onDevice, this.index, () -> torch.cuda_synchronize(this.index));
	}

	@Override
	public String toString() {
		return isHost() ? "cpu" : this.kind.toString().toLowerCase(Locale.ROOT) + ":" + this.index;
	}

}
