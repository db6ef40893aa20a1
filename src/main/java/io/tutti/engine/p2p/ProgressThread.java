package io.tutti.engine.p2p;

import java.util.concurrent.locks.LockSupport;

import io.tutti.engine.CollectiveException;

/**
 * Moves on what no synchronous call waits for, on a thread that starts with the first
 * such thing.
 */
final class ProgressThread implements AutoCloseable {

	/** How long it keeps away while a synchronous call moves everything on. */
	private static final long ASIDE_NANOS = 1_000_000;

	private final ProgressEngine office;

	private final MessageFailures failures;

	private final BlockingProgress drive;

	private final ParkedWorker worker;

	ProgressThread(String name, ProgressEngine office, MessageFailures failures, BlockingProgress drive) {
		this.office = office;
		this.failures = failures;
		this.drive = drive;
		this.worker = new ParkedWorker(name, this::attend);
	}

	/** There is something to attend to. */
	void wake() {
		this.worker.wake();
	}

	private void attend() {
		int idleRounds = 0;
		int busyRounds = 0;
		long idleSince = 0;
		while (this.office.hasUnattended()) {
			if (this.office.hasDriver()) {
				LockSupport.parkNanos(ASIDE_NANOS);
			}
			else if (this.office.progress(ProgressEngine.ALL)) {
				idleRounds = 0;
				if (++busyRounds % BlockingProgress.BUSY_ROUNDS == 0 && !inspect(System.nanoTime())) {
					return;
				}
				continue;
			}
			else if (idleRounds++ < this.drive.spins()) {
				Thread.onSpinWait();
				continue;
			}
			long now = System.nanoTime();
			idleSince = (idleRounds == this.drive.spins() + 1) ? now : idleSince;
			if (!inspect(now)) {
				return;
			}
			if (!this.office.hasDriver() && now - idleSince >= this.drive.yieldNanos()) {
				this.office.sleep(Math.min(BlockingProgress.SLEEP_NANOS, soonestNanos(now)), null);
				idleRounds = this.drive.spins() + 1;
			}
			else {
				Thread.yield();
			}
		}
	}

	/** Looks for operations that nobody waits for and that cannot be done any more. */
	private boolean inspect(long now) {
		this.office.enter();
		try {
			this.failures.requireWhole();
			for (Operation operation : this.office.postroom().open()) {
				if (operation.future != null) {
					this.failures.requireAlive(operation, now);
				}
			}
			return true;
		}
		catch (CollectiveException ex) {
			this.office.postroom().end(ex);
			return false;
		}
		finally {
			this.office.leave();
		}
	}

	private long soonestNanos(long now) {
		this.office.enter();
		try {
			long soonest = BlockingProgress.SLEEP_NANOS;
			for (Operation operation : this.office.postroom().open()) {
				if (operation.future != null) {
					soonest = Math.min(soonest, operation.stopwatch.remainingNanos(now) + 1);
				}
			}
			return Math.max(1, soonest);
		}
		finally {
			this.office.leave();
		}
	}

	@Override
	public void close() {
		this.worker.close();
	}

}
