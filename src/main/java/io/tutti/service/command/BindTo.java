package io.tutti.service.command;

import java.util.Locale;

import io.tutti.benchmark.CoreBinding;
import io.tutti.engine.RankAssignment;

/**
 * What a rank's measuring thread is bound to.
 */
enum BindTo {

	/** A core of its own, where there are enough of them for the ranks of the host. */
	CORE,
	/** Whatever the kernel gives it. */
	NONE;

	CoreBinding binding(RankAssignment rank) {
		return (this == CORE) ? CoreBinding.of(rank.localRank(), rank.localWorldSize()) : CoreBinding.NONE;
	}

	String label() {
		return name().toLowerCase(Locale.ROOT);
	}

}
