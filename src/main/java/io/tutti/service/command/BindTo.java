package io.tutti.service.command;

import io.tutti.benchmark.CoreBinding;
import io.tutti.engine.RankAssignment;

/**
 * CPU binding of a rank's measuring thread.
 */
enum BindTo {

	/** One core per rank, if the host has enough cores for its ranks. */
	CORE,
	/** No binding. */
	NONE;

	CoreBinding binding(RankAssignment rank) {
		return (this == CORE) ? CoreBinding.of(rank.localRank(), rank.localWorldSize()) : CoreBinding.NONE;
	}

}
