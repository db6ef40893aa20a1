package io.tutti.engine.backend;

import io.tutti.CollectiveListener;
import io.tutti.engine.RankAssignment;

/**
 * The built-in algorithms over TCP between hosts and over shared memory within one.
 */
final class TcpBackend implements Backend {

	@Override
	public String name() {
		return Backends.TCP;
	}

	@Override
	public Availability availability(EngineSettings settings) {
		return Availability.yes("our own algorithms over TCP and shared memory");
	}

	@Override
	public Engine join(RankAssignment assignment, EngineSettings settings, CollectiveListener events) {
		return Engine.bootstrap(assignment, settings, events, null);
	}

}
