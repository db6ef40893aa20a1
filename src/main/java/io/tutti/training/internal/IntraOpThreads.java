package io.tutti.training.internal;

import org.bytedeco.openblas.global.openblas;
import org.bytedeco.pytorch.global.torch;

/**
 * Number of threads that libtorch uses inside one operation.
 */
public final class IntraOpThreads {

	private IntraOpThreads() {
	}

	/**
	 * Sets the number for this process, in libtorch and in OpenBLAS, which has its own
	 * threads.
	 */
	public static void set(int threads) {
		torch.set_num_threads(threads);
		openblas.blas_set_num_threads(threads);
	}

}
