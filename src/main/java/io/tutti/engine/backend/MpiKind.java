package io.tutti.engine.backend;

import io.tutti.engine.CollectiveListener;
import io.tutti.engine.RankAssignment;

/**
 * MPI by name and by launch rules, carried out by our own engine.
 */
final class MpiKind implements BackendKind {

	@Override
	public String name() {
		return Backends.MPI;
	}

	@Override
	public Availability availability(EngineSettings settings) {
		return Availability.yes("our own algorithms over TCP and shared memory");
	}

	@Override
	public Engine join(RankAssignment assignment, EngineSettings settings, CollectiveListener events) {
		return Engine.meet(assignment, settings, events);
	}

}
