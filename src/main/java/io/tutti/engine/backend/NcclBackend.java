package io.tutti.engine.backend;

import io.tutti.CollectiveListener;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.nccl.NcclAvailability;
import io.tutti.engine.backend.nccl.NcclGroupBackend;
import io.tutti.engine.backend.nccl.NcclBootstrap;

/**
 * NCCL for collectives in GPU memory, over the built-in engine for those in host memory.
 */
final class NcclBackend implements Backend {

	@Override
	public String name() {
		return NcclGroupBackend.NAME;
	}

	@Override
	public Availability availability(EngineSettings settings) {
		NcclAvailability found = NcclAvailability.probe();
		return found.available() ? Availability.yes(found.detail())
				: Availability.no(found.toString(), found.state().action());
	}

	@Override
	public Engine join(RankAssignment assignment, EngineSettings settings, CollectiveListener events) {
		events.note("nccl: " + NcclAvailability.probe());
		NcclBootstrap nccl = new NcclBootstrap(assignment.localRank());
		return Engine.bootstrap(assignment, settings, events, nccl::over);
	}

}
