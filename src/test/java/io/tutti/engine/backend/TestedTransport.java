package io.tutti.engine.backend;

import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.DepartureContract.DepartingWorld;
import io.tutti.engine.tls.Authority;
import io.tutti.engine.tls.Tls;

/**
 * The transports for a group of ranks in this JVM.
 */
enum TestedTransport {

	TCP, TLS, SHARED, SHARED_LINKS, HIERARCHICAL, SIMULATED;

	/** Created once, since key generation is slow. */
	private static final class Certificates {

		private static final Authority AUTHORITY = Authority.named("CN=ours");

		private static final Tls RANK = AUTHORITY.tls(AUTHORITY.rank());

	}

	DepartingWorld world(int worldSize, Timeouts timeouts) throws Exception {
		return switch (this) {
			case TCP -> Worlds.joined(worldSize, TransportChoice.TCP, null, timeouts);
			case TLS -> Worlds.joined(worldSize, TransportChoice.TCP, Certificates.RANK, timeouts);
			case SHARED -> Worlds.joined(worldSize, TransportChoice.SHM, null, timeouts);
			case SHARED_LINKS -> new SharedWorld(worldSize, timeouts, SharedWorld.Ways.LINKS);
			case HIERARCHICAL -> new HierarchicalWorld(worldSize, timeouts, (rank) -> rank / 2);
			case SIMULATED -> Worlds.simulated(worldSize, timeouts);
		};
	}

	/** Whether subgroups are supported. */
	boolean splits() {
		return this != SHARED_LINKS;
	}

}
