package io.tutti.launch;

import io.tutti.engine.RankAssignment;

/**
 * The names and defaults of a meeting point that launchers share.
 */
final class RendezvousEndpoint {

	static final String ADDRESS_VARIABLE = "MASTER_ADDR";

	static final String PORT_VARIABLE = "MASTER_PORT";

	static final int DEFAULT_PORT = RankAssignment.DEFAULT_MASTER_PORT;

	private RendezvousEndpoint() {
	}

}
