package io.tutti.service.command;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;

import io.tutti.Failure;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.failure.DepartedRanks;

/**
 * The ranks that leave a formed group while this rank serves. They are missing from every
 * later collective, which would name them as lost, but there may be none, and a formed
 * group admits no replacement.
 */
final class LeftRanks {

	private LeftRanks() {
	}

	/**
	 * Completes with a failure that names them, some time after the first.
	 * @param together ranks that leave together do so within this time
	 */
	static CompletableFuture<Failure> failure(JoinedGroup group, Duration together) {
		Set<Integer> ranks = new ConcurrentSkipListSet<>();
		CompletableFuture<Void> first = new CompletableFuture<>();
		group.onDeparture((rank) -> {
			ranks.add(rank);
			first.complete(null);
		});
		return first.thenApplyAsync((_) -> DepartedRanks.peerLost(List.copyOf(ranks)), CompletableFuture
			.delayedExecutor(together.toNanos(), TimeUnit.NANOSECONDS, Thread::startVirtualThread));
	}

}
