package io.tutti.training;

import org.bytedeco.openblas.global.openblas;
import org.bytedeco.pytorch.global.torch;

/**
 * Threads that libtorch uses inside one operation.
 */
final class IntraOpThreads {

	private IntraOpThreads() {
	}

	/**
	 * Sets them for this process; OpenBLAS has threads of its own and must be told too.
	 */
	static void set(int threads) {
		torch.set_num_threads(threads);
		openblas.blas_set_num_threads(threads);
	}

}
