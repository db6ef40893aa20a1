package io.tutti.service.metrics;

import java.util.concurrent.atomic.AtomicLongArray;

import io.tutti.CollectiveListener;
import io.tutti.Failure;

/**
 * Counts broken groups by kind of failure.
 */
final class FailureCounts implements CollectiveListener {

	private final AtomicLongArray counts = new AtomicLongArray(Failure.Kind.values().length);

	@Override
	public void broken(Failure failure) {
		this.counts.incrementAndGet(failure.kind().ordinal());
	}

	long of(Failure.Kind kind) {
		return this.counts.get(kind.ordinal());
	}

}
