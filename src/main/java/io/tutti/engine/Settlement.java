package io.tutti.engine;

import java.time.Duration;
import java.util.List;

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
				this.latch.trip(this.reporter.unjudged(seen.failure(), this.patience));
			}
		}
		Failure verdict = this.latch.failure();
		if (seen.failure().equals(verdict)) {
			return seen;
		}
		return CollectiveException.of(this.identity.worldRank(), verdict, seen);
	}

	/**
	 * Something of this rank's own broke inside a call: the others must not wait for it.
	 */
	void giveUp(Call call, Throwable cause) {
		Failure failure = Failure.inside(Failure.Kind.ABORTED, this.identity.name(), call,
				List.of(this.identity.worldRank()), "this rank cannot go on: " + cause);
		this.reporter.report(failure);
		this.latch.trip(failure);
	}

	/** Tells rank 0 what this rank waits in. */
	void post(CallPost post) {
		this.reporter.post(post);
	}

}
