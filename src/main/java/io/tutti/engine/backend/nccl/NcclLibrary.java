package io.tutti.engine.backend.nccl;

import io.tutti.BackendUnavailableException;
import io.tutti.engine.device.DeviceRuntime;
import io.tutti.engine.javacpp.NativeLibraryPreparation;

/**
 * NCCL and CUDA in this process.
 *
 * @param nccl NCCL
 * @param runtime CUDA runtime
 * @param availability result of the probe, including the functions that may be called
 */
record NcclLibrary(Nccl nccl, DeviceRuntime runtime, NcclAvailability availability) {

	/** The action to take if the preset is present but does not load. */
	static final String LOADING = "Add org.bytedeco:cuda with its classifier for this platform, and use the libraries"
			+ " that it was built for: CUDA 13";

	/**
	 * Probes, then loads the preset.
	 * @throws BackendUnavailableException if anything is missing
	 */
	static NcclLibrary load() {
		NcclAvailability found = NcclAvailability.probe();
		if (!found.available()) {
			throw new BackendUnavailableException("nccl", found.toString(), found.state().action());
		}
		NativeLibraryPreparation.prepare();
		try {
			return new NcclLibrary(new PresetNccl(), new PresetDeviceRuntime(), found);
		}
		catch (LinkageError ex) {
			throw new BackendUnavailableException("nccl", "the preset does not load though " + found + ": " + ex,
					LOADING);
		}
	}

	/**
	 * NCCL's last error text in this process; empty if the library does not offer it.
	 * NCCL ignores the communicator argument of that call.
	 */
	String lastError() {
		return this.availability.has(NcclFunction.LAST_ERROR) ? this.nccl.getLastError(0) : "";
	}

}
