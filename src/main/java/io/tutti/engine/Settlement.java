package io.tutti.engine;

import java.time.Duration;

/**
 * Turns what this rank saw fail into what is thrown: reports it and waits for the
 * verdict, which is the cause on every rank. Safe for any number of threads.
 */
public final class Settlement {

	private final GroupIdentity identity;

	private final FailureLatch latch;

	private final FailureReporter reporter;

	private final Duration patience;

	/**
	 * @param patience how long the verdict may take; after that, what this rank saw is
	 * the cause
	 */
	public Settlement(GroupIdentity identity, FailureLatch latch, FailureReporter reporter, Duration patience) {
		this.identity = identity;
		this.latch = latch;
		this.reporter = reporter;
		this.patience = patience;
	}

	/** The exception to be thrown; the group is broken when this returns. */
	public CollectiveException settle(CollectiveException seen) {
		if (this.latch.failure() == null) {
			this.reporter.report(seen.failure());
			if (this.latch.await(this.patience) == null) {
				this.latch.trip(seen.failure());
			}
		}
		Failure verdict = this.latch.failure();
		if (verdict == null || verdict.equals(seen.failure())) {
			return seen;
		}
		return CollectiveException.of(this.identity.worldRank(), verdict, seen);
	}

}
