package io.tutti.engine.backend;

import io.tutti.engine.BackendUnavailableException;
import io.tutti.engine.CollectiveListener;
import io.tutti.engine.RankAssignment;

/**
 * Collectives on GPUs by NCCL; known by name, so that asking for it is refused and not
 * answered by another backend.
 */
final class NcclKind implements BackendKind {

	private static final String PROBLEM = "this build has no NCCL backend";

	private static final String ACTION = "Use the profile tcp or mpi, on host memory";

	@Override
	public String name() {
		return Backends.NCCL;
	}

	@Override
	public Availability availability(EngineSettings settings) {
		return Availability.no(PROBLEM, ACTION);
	}

	@Override
	public Engine join(RankAssignment assignment, EngineSettings settings, CollectiveListener events) {
		throw new BackendUnavailableException(name(), PROBLEM, ACTION);
	}

}
