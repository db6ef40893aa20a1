package io.tutti.service.group;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.tutti.CollectiveListener;
import io.tutti.Failure;

/**
 * Distinguishes failures that break the group of all ranks from those that break only
 * another group. Uses threads of its own, since the application may block those of the
 * common pool, of which a machine of two cores has one.
 */
record BreakListener(Consumer<Failure> failure, CompletableFuture<Integer> withdrawn) implements CollectiveListener {

	@Override
	public void withdrew(int rank) {
		this.withdrawn.completeAsync(() -> rank, Thread::startVirtualThread);
	}

	/** A lost peer breaks every group that contains it. */
	static boolean breaksWorld(Failure failure) {
		return failure.group().equals(Failure.WORLD) || failure.kind() == Failure.Kind.PEER_LOST;
	}

	@Override
	public void broken(Failure failure) {
		if (breaksWorld(failure)) {
			Thread.startVirtualThread(() -> this.failure.accept(failure));
		}
	}

}
