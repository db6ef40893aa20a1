package io.tutti.training;

import java.util.List;

/**
 * All that a job needs to go on as if it had never stopped, on any number of ranks.
 *
 * @param job what was trained, on what: a job that differs may not go on from here
 * @param progress how far it had come
 * @param parameters bytes of each parameter
 * @param optimizer the optimizer's state
 */
record Checkpoint(JobFingerprint job, Progress progress, List<byte[]> parameters, byte[] optimizer) {

	Checkpoint {
		parameters = List.copyOf(parameters);
	}

}
