package io.tutti.training;

import org.bytedeco.openblas.global.openblas;
import org.bytedeco.pytorch.global.torch;

/**
 * Number of threads that libtorch uses inside one operation.
 */
final class IntraOpThreads {

	private IntraOpThreads() {
	}

	/**
	 * Sets the number for this process, in libtorch and in OpenBLAS, which has its own
	 * threads.
	 */
	static void set(int threads) {
		torch.set_num_threads(threads);
		openblas.blas_set_num_threads(threads);
	}

}
