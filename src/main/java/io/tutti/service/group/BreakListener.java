package io.tutti.service.group;

import java.util.concurrent.CompletableFuture;

import io.tutti.CollectiveListener;
import io.tutti.Failure;

/**
 * Distinguishes failures that break the group of all ranks from those that break only
 * another group.
 */
final class BreakListener implements CollectiveListener {

	private final CollectiveListener log;

	private final CompletableFuture<Failure> broken;

	private final CompletableFuture<Integer> withdrawn;

	BreakListener(CollectiveListener log, CompletableFuture<Failure> broken, CompletableFuture<Integer> withdrawn) {
		this.log = log;
		this.broken = broken;
		this.withdrawn = withdrawn;
	}

	@Override
	public void note(String message) {
		this.log.note(message);
	}

	@Override
	public void warn(String message) {
		this.log.warn(message);
	}

	@Override
	public void withdrew(int rank) {
		this.log.withdrew(rank);
		this.withdrawn.completeAsync(() -> rank);
	}

	/** A lost peer breaks every group that contains it. */
	@Override
	public void broken(Failure failure) {
		this.log.broken(failure);
		if (failure.group().equals(Failure.WORLD) || failure.kind() == Failure.Kind.PEER_LOST) {
			this.broken.completeAsync(() -> failure);
		}
	}

}
