package io.tutti.engine.backend.nccl;

/**
 * The files that NCCL needs, as the dynamic linker finds them: a name that it searches
 * for, or a path.
 *
 * @param driver CUDA's driver
 * @param runtime CUDA's runtime
 * @param nccl NCCL
 */
public record NativeLibraries(String driver, String runtime, String nccl) {

	/**
	 * The usual names, or those that the properties {@code tutti.gpu.driver},
	 * {@code tutti.gpu.cudart} and {@code tutti.gpu.nccl} give.
	 */
	public static NativeLibraries ofSystem() {
		return new NativeLibraries(System.getProperty("tutti.gpu.driver", "libcuda.so.1"),
				System.getProperty("tutti.gpu.cudart", "libcudart.so.13"),
				System.getProperty("tutti.gpu.nccl", "libnccl.so.2"));
	}

}
