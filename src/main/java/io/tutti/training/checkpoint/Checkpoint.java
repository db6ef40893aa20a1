package io.tutti.training.checkpoint;

import java.util.List;

/**
 * The complete state that a job needs to continue as if it had never stopped, on any
 * number of ranks.
 *
 * @param job fingerprint of the job; only a job with the same fingerprint may continue
 * @param progress completed steps and totals of the current epoch
 * @param parameters bytes of each parameter
 * @param optimizer the optimizer's state
 */
record Checkpoint(JobFingerprint job, Progress progress, List<byte[]> parameters, byte[] optimizer) {

	Checkpoint {
		parameters = List.copyOf(parameters);
	}

}
