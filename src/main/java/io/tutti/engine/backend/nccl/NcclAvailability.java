package io.tutti.engine.backend.nccl;

import java.util.Set;

import io.tutti.engine.device.DeviceDataType;

/**
 * Result of a probe: whether NCCL can be used in this process and, if not, what is
 * missing and what to do.
 *
 * @param state outcome of the probe
 * @param detail description of the outcome
 * @param devices number of GPUs that the driver reports
 * @param version NCCL's version code, such as 22903; 0 if no library was found
 * @param functions the optional functions that the installed library has
 */
public record NcclAvailability(State state, String detail, int devices, int version, Set<NcclFunction> functions) {

	/** The first version with 8-bit floats. */
	private static final int FLOAT8_SINCE = 22400;

	/** Outcome of a probe. */
	public enum State {

		/** NCCL can be used. */
		AVAILABLE("available", "No action is needed"),
		/** The JavaCPP preset is not on the class path. */
		PRESET_MISSING("preset missing", "Add org.bytedeco:cuda and its linux-x86_64 classifier to the class path"),
		/** The CUDA driver library is missing or not a driver. */
		DRIVER_MISSING("driver missing",
				"Install NVIDIA's driver (580 or newer) on the host and start the container with access to the GPU"),
		/** The driver reports no GPU. */
		NO_DEVICE("no device",
				"Give the process a GPU: nvidia.com/gpu in the pod, --gpus for a container, or CUDA_VISIBLE_DEVICES"),
		/** The CUDA runtime library is missing. */
		RUNTIME_MISSING("CUDA runtime missing",
				"Use a CUDA 13 or CUDA 12 runtime image, add the library's folder to LD_LIBRARY_PATH, or name the file in"
						+ " TUTTI_GPU_CUDART"),
		/** The NCCL library is missing. */
		LIBRARY_MISSING("libnccl.so.2 missing",
				"Install NCCL 2.14 or newer (package libnccl2), add its folder to LD_LIBRARY_PATH, or name the file in"
						+ " TUTTI_GPU_NCCL"),
		/** The NCCL library lacks a function that every communicator needs. */
		TOO_OLD("NCCL too old", "Install NCCL 2.14 or newer");

		private final String label;

		private final String action;

		State(String label, String action) {
			this.label = label;
			this.action = action;
		}

		/**
		 * {@return the action to take, as a sentence without a full stop}
		 */
		public String action() {
			return this.action;
		}

		@Override
		public String toString() {
			return this.label;
		}

	}

	/** Copies the set. */
	public NcclAvailability {
		functions = Set.copyOf(functions);
	}

	/**
	 * Probes this process; reports problems in the result and never throws for them.
	 * @return the result
	 */
	public static NcclAvailability probe() {
		return NcclProbe.ofProcess().probe();
	}

	/**
	 * {@return whether NCCL can be used}
	 */
	public boolean available() {
		return this.state == State.AVAILABLE;
	}

	/**
	 * Looks for an optional function.
	 * @param function the function
	 * @return whether the installed library has it
	 */
	public boolean has(NcclFunction function) {
		return this.functions.contains(function);
	}

	/**
	 * Checks that the installed library has an optional function.
	 * @param function the function
	 * @throws UnsupportedOperationException if the function is missing
	 */
	public void require(NcclFunction function) {
		if (!has(function)) {
			throw tooOld(function.symbol(), function.since());
		}
	}

	/**
	 * Looks for an element type.
	 * @param type the type
	 * @return whether the installed library has it
	 */
	public boolean has(DeviceDataType type) {
		return this.version >= FLOAT8_SINCE || type != DeviceDataType.FLOAT8_E4M3 && type != DeviceDataType.FLOAT8_E5M2;
	}

	/**
	 * Checks that the installed library has an element type.
	 * @param type the type
	 * @throws UnsupportedOperationException if it lacks the type
	 */
	public void require(DeviceDataType type) {
		if (!has(type)) {
			throw tooOld(type.toString(), "2.24");
		}
	}

	private UnsupportedOperationException tooOld(String what, String since) {
		return new UnsupportedOperationException(what + " needs NCCL " + since + " or newer, installed is "
				+ versionText() + "; install a newer libnccl.so.2");
	}

	/**
	 * {@return the version as text, such as {@code 2.29.3}}
	 */
	public String versionText() {
		return versionText(this.version);
	}

	static String versionText(int code) {
		if (code == 0) {
			return "none";
		}
		int unit = (code < 10_000) ? 1000 : 10_000;
		return code / unit + "." + code % unit / 100 + "." + code % 100;
	}

	/**
	 * State and detail in one line, such as
	 * {@code driver missing: libcuda.so.1 cannot be loaded}.
	 */
	@Override
	public String toString() {
		return this.state + ": " + this.detail;
	}

}
