package io.tutti.service.group;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.tutti.CollectiveListener;
import io.tutti.Failure;

/**
 * Distinguishes failures that break the group of all ranks from those that break only
 * another group.
 */
record BreakListener(Consumer<Failure> failure, CompletableFuture<Integer> withdrawn) implements CollectiveListener {

	@Override
	public void withdrew(int rank) {
		this.withdrawn.completeAsync(() -> rank);
	}

	/** A lost peer breaks every group that contains it. */
	static boolean breaksWorld(Failure failure) {
		return failure.group().equals(Failure.WORLD) || failure.kind() == Failure.Kind.PEER_LOST;
	}

	@Override
	public void broken(Failure failure) {
		if (breaksWorld(failure)) {
			CompletableFuture.runAsync(() -> this.failure.accept(failure));
		}
	}

}
