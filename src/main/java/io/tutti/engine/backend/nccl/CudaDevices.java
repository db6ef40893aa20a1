package io.tutti.engine.backend.nccl;

import io.tutti.BackendUnavailableException;
import io.tutti.engine.backend.nccl.NcclAvailability.State;
import io.tutti.engine.device.DeviceRuntime;
import io.tutti.engine.javacpp.NativeLibraryPreparation;

/**
 * The GPUs of this process through the CUDA runtime, with or without NCCL.
 */
public final class CudaDevices {

	private CudaDevices() {
	}

	/** Checks that this process has a device. */
	static void requirePresent(int device, int count) {
		if (device < 0 || device >= count) {
			throw new IllegalArgumentException((count == 0) ? "no device " + device + ": CUDA reports no device"
					: "device must be in 0.." + (count - 1) + ", got " + device);
		}
	}

	/**
	 * Returns the device runtime.
	 * @return the runtime
	 * @throws BackendUnavailableException if the driver, a device, the CUDA runtime or
	 * the preset is missing
	 */
	public static DeviceRuntime runtime() {
		NcclAvailability found = NcclAvailability.probe();
		State state = found.state();
		if (state != State.AVAILABLE && state != State.LIBRARY_MISSING && state != State.TOO_OLD) {
			throw new BackendUnavailableException("cuda", found.toString(), state.action());
		}
		NativeLibraryPreparation.prepare();
		try {
			return new PresetDeviceRuntime();
		}
		catch (LinkageError ex) {
			throw new BackendUnavailableException("cuda", "the preset does not load: " + ex, NcclLibrary.LOADING);
		}
	}

}
