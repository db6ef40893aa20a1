package io.tutti.engine.failure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.CallReport;
import io.tutti.engine.spi.GroupIdentity;
import org.jspecify.annotations.Nullable;

/**
 * The failure state of one group on one rank: running or failed. A rank that detects a
 * failure reports it to rank 0 and waits for the verdict, which is the cause on every
 * rank. The first verdict stays. Also records the ranks that have left the group, so that
 * the next call that needs one of them fails. Safe for any number of threads; a check
 * costs one volatile read.
 */
public final class FailureLatch {

	/** Where this rank's failures are reported, and how long a verdict may take. */
	private record Reports(GroupIdentity identity, FailureReporter reporter, Duration limit) {
	}

	private final AtomicReference<@Nullable Failure> failure = new AtomicReference<>();

	/** The last failure that this rank has reported. */
	private final AtomicReference<@Nullable Failure> reported = new AtomicReference<>();

	private final CountDownLatch failed = new CountDownLatch(1);

	private final DepartedRanks departed = new DepartedRanks();

	private volatile @Nullable Reports reports;

	private volatile Runnable wake = () -> {
	};

	private volatile Runnable withoutVerdict = () -> {
	};

	/**
	 * Connects the latch to rank 0, once, before the group runs: the latch is registered
	 * for verdicts before the control plane exists.
	 * @param limit how long a verdict may take; after that, the reporter's
	 * {@linkplain FailureReporter#withoutVerdict failure without a verdict} is the cause
	 */
	public void reportTo(GroupIdentity identity, FailureReporter reporter, Duration limit) {
		this.reports = new Reports(identity, reporter, limit);
	}

	/**
	 * Sets the action that wakes the group's waiting calls. It runs when the group
	 * breaks, on the thread that breaks it, and at once if the group is broken.
	 */
	public void onFailure(Runnable action) {
		this.wake = action;
		if (failure() != null) {
			action.run();
		}
	}

	/**
	 * Sets the action that runs after this rank has broken the group without a verdict of
	 * rank 0, on the thread of the failed call.
	 */
	public void onBreakWithoutVerdict(Runnable action) {
		this.withoutVerdict = action;
	}

	private Reports reports() {
		Reports found = this.reports;
		if (found == null) {
			throw new IllegalStateException("the latch is not connected to rank 0 yet");
		}
		return found;
	}

	/** The failure, or {@code null} while the group works. */
	public @Nullable Failure failure() {
		return this.failure.get();
	}

	/**
	 * Checks that the group is not broken.
	 * @param group the group on this rank
	 * @throws CollectiveException the group's failure
	 */
	public void requireNotBroken(GroupIdentity group) {
		Failure earlier = failure();
		if (earlier != null) {
			throw group.exception(earlier, null);
		}
	}

	/**
	 * Why a call cannot complete on this rank: the group's failure, or a rank that has
	 * left without completing the call; {@code null} if neither.
	 */
	public @Nullable Failure obstacleTo(Call call, GroupIdentity group) {
		Failure earlier = failure();
		int left = this.departed.missingFrom(call.sequence());
		return (earlier != null || left < 0) ? earlier : call.failure(DepartedRanks.failureOf(group.name()),
				group.name(), List.of(left), this.departed.describe(left));
	}

	/** The ranks that have left the group. */
	public DepartedRanks departed() {
		return this.departed;
	}

	/**
	 * Breaks the group. The waits for the verdict end after the group's calls are woken.
	 * @return whether this was the first failure
	 */
	public boolean trip(Failure failure) {
		if (!this.failure.compareAndSet(null, failure)) {
			return false;
		}
		try {
			this.wake.run();
		}
		finally {
			this.failed.countDown();
		}
		return true;
	}

	/**
	 * Reports a failure to rank 0 and waits for the verdict. An interrupt does not end
	 * the wait and stays set. Many operations may fail with the same failure, which is
	 * reported once. A different failure is reported as well: rank 0 prefers a root cause
	 * to its consequences.
	 * @return the exception to be thrown; the group is broken
	 */
	public CollectiveException reportAndAwaitVerdict(CollectiveException seen) {
		Reports to = reports();
		Failure own = seen.failure();
		long startNanos = System.nanoTime();
		if (failure() == null && !own.equals(this.reported.getAndSet(own))) {
			to.reporter().report(own);
		}
		if (await(to.limit()) == null) {
			trip(to.reporter().withoutVerdict(own, Duration.ofNanos(System.nanoTime() - startNanos)));
			this.withoutVerdict.run();
		}
		Failure verdict = failure();
		return own.equals(verdict) ? seen : to.identity().exception(verdict, seen);
	}

	/**
	 * Breaks the group on request, outside of any call.
	 * @param exitCode exit code of the ranks that end with this failure
	 * @return the exception for the group's failure
	 */
	public CollectiveException abort(int exitCode, String reason) {
		GroupIdentity identity = reports().identity();
		return reportAndAwaitVerdict(identity.exception(identity.aborted(reason).withExitCode(exitCode), null));
	}

	/**
	 * Breaks the group because this rank cannot continue, outside of any call.
	 * @return the exception for the group's failure
	 */
	public CollectiveException abort(String reason) {
		GroupIdentity identity = reports().identity();
		return reportAndAwaitVerdict(identity.exception(identity.aborted(reason), null));
	}

	/**
	 * Breaks the group because this rank cannot continue a call, so that no rank waits
	 * for it.
	 * @return the exception to be thrown; its chain of causes ends with {@code cause}
	 */
	public CollectiveException abortCall(Call call, Throwable cause) {
		GroupIdentity identity = reports().identity();
		return reportAndAwaitVerdict(identity
			.exception(identity.failure(Failure.Kind.ABORTED, call, "this rank cannot continue: " + cause), cause));
	}

	/**
	 * Announces that this rank leaves the group and has completed its calls up to this
	 * one.
	 */
	public void leave(long lastCompleted) {
		Reports to = reports();
		to.reporter().left(to.identity(), lastCompleted);
	}

	/** Reports a call to rank 0, which compares it with the calls of the other ranks. */
	public void reportCall(CallReport report) {
		reports().reporter().reportCall(report);
	}

	/**
	 * Waits for a failure. An interrupt does not end the wait and stays set, since the
	 * failure must be the same on every rank.
	 * @return the failure, or {@code null} if there is none in time
	 */
	public @Nullable Failure await(Duration timeout) {
		long endNanos = System.nanoTime() + timeout.toNanos();
		boolean interrupted = false;
		try {
			while (true) {
				try {
					this.failed.await(endNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
					return failure();
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

}
