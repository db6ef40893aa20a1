package io.tutti.engine;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Turns what this rank saw fail into what is thrown: reports it and waits for the
 * verdict, which is the cause on every rank. Safe for any number of threads.
 */
public final class FailureAgreement {

	private final GroupIdentity identity;

	private final FailureLatch latch;

	private final FailureReporter reporter;

	private final Duration patience;

	/** What was reported last: many operations may fail by one failure. */
	private volatile @Nullable Failure reported;

	/**
	 * @param patience how long the verdict may take; after that, what this rank saw is
	 * the cause
	 */
	public FailureAgreement(GroupIdentity identity, FailureLatch latch, FailureReporter reporter, Duration patience) {
		this.identity = identity;
		this.latch = latch;
		this.reporter = reporter;
		this.patience = patience;
	}

	/**
	 * The exception to be thrown; the group is broken when this returns. An interrupted
	 * thread waits for the verdict too, and stays interrupted.
	 */
	public CollectiveException settle(CollectiveException seen) {
		if (this.latch.failure() == null) {
			long reportedNanos = System.nanoTime();
			reportOnce(seen.failure());
			if (this.latch.await(this.patience) == null) {
				Duration waited = Duration.ofNanos(System.nanoTime() - reportedNanos);
				this.latch.trip(this.reporter.unjudged(seen.failure(), waited));
			}
		}
		Failure verdict = this.latch.failure();
		if (seen.failure().equals(verdict)) {
			return seen;
		}
		return CollectiveException.of(this.identity.worldRank(), verdict, seen);
	}

	/** Two threads that report the same at once do no harm. */
	private void reportOnce(Failure failure) {
		if (!failure.equals(this.reported)) {
			this.reported = failure;
			this.reporter.report(failure);
		}
	}

	/** Breaks the group for a reason of this rank's, with no call of its own in mind. */
	public void abort(String reason) {
		Failure failure = Failure.outside(Failure.Kind.ABORTED, this.identity.name(),
				List.of(this.identity.worldRank()), reason);
		settle(CollectiveException.of(this.identity.worldRank(), failure, null));
	}

	/**
	 * Something of this rank's own broke inside a call: the others must not wait for it.
	 */
	public void giveUp(Call call, Throwable cause) {
		Failure failure = call.failure(Failure.Kind.ABORTED, this.identity.name(), List.of(this.identity.worldRank()),
				"this rank cannot go on: " + cause);
		this.reporter.report(failure);
		this.latch.trip(failure);
	}

	/** This rank leaves the group and has completed its calls up to this one. */
	public void leave(long lastCompleted) {
		this.reporter.left(this.identity, lastCompleted);
	}

	/** Tells rank 0 what this rank waits in. */
	public void post(CallReport post) {
		this.reporter.post(post);
	}

}
