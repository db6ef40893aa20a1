package io.tutti.engine.backend.nccl;

/**
 * The libraries that NCCL needs, each a path or a name for the dynamic linker.
 *
 * @param driver CUDA driver
 * @param runtime CUDA runtime
 * @param nccl NCCL
 */
public record NativeLibraries(String driver, String runtime, String nccl) {

	/**
	 * The names from the properties {@code tutti.gpu.driver}, {@code tutti.gpu.cudart}
	 * and {@code tutti.gpu.nccl}, or the default names.
	 */
	public static NativeLibraries ofSystem() {
		return new NativeLibraries(System.getProperty("tutti.gpu.driver", "libcuda.so.1"),
				System.getProperty("tutti.gpu.cudart", "libcudart.so.13"),
				System.getProperty("tutti.gpu.nccl", "libnccl.so.2"));
	}

}
