package io.tutti.launch;

import io.tutti.engine.RankAssignment;

/**
 * Names and defaults of the rendezvous address that launchers share.
 */
final class RendezvousEndpoint {

	static final String ADDRESS_VARIABLE = "MASTER_ADDR";

	static final String PORT_VARIABLE = "MASTER_PORT";

	static final int DEFAULT_PORT = RankAssignment.DEFAULT_MASTER_PORT;

	private RendezvousEndpoint() {
	}

}
