package io.tutti.engine.backend.nccl;

import io.tutti.engine.BackendUnavailableException;
import io.tutti.engine.device.DeviceRuntime;
import io.tutti.engine.javacpp.NativeLibraryPreparation;

/**
 * NCCL and CUDA as this process has them.
 *
 * @param nccl NCCL
 * @param runtime CUDA's runtime
 * @param availability what the probe found, and so which functions may be called
 */
record NcclLibrary(Nccl nccl, DeviceRuntime runtime, NcclAvailability availability) {

	/** What to do where the preset is there and does not load. */
	static final String LOADING = "Add org.bytedeco:cuda with its classifier for this platform, and use the libraries"
			+ " that it was built for: CUDA 13";

	/**
	 * Probes, then loads the preset.
	 * @throws BackendUnavailableException if anything is missing
	 */
	static NcclLibrary load() {
		NcclAvailability found = new NcclProbe().look();
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
	 * What went wrong last in this process, in NCCL's words; empty where the library has
	 * none. NCCL does not look at the communicator that its call takes.
	 */
	String lastError() {
		return this.availability.has(NcclFunction.LAST_ERROR) ? this.nccl.getLastError(0) : "";
	}

}
