package io.tutti.engine.p2p;

/**
 * How the thread of a synchronous call moves messages on until its own is done: it spins
 * a little, then yields the core, then sleeps.
 */
final class BlockingProgress {

	/**
	 * Rounds without a move before a yield: some times as long as an answer through
	 * memory takes, and as little as can be lost where the peer needs this core.
	 */
	static final int SPINS = 16;

	/**
	 * Rounds between two looks at connections that a call does not wait for; more than it
	 * spins, so that after a sleep it neither spins again nor misses them.
	 */
	private static final int OTHERS_EVERY = 32;

	private static final long YIELD_NANOS = 300_000;

	/**
	 * Rounds in which something moved between two looks at failures and deadlines: other
	 * ranks' messages may keep a thread busy for ever. Such a round takes a microsecond
	 * or more, a look some tens of nanoseconds.
	 */
	static final int BUSY_ROUNDS = 256;

	/** Longest sleep: what bounds how late a failure is seen where nothing wakes us. */
	static final long SLEEP_NANOS = 20_000_000;

	private final ProgressEngine office;

	private final MessageFailures failures;

	private final int spins;

	private final long yieldNanos;

	/**
	 * @param crowded whether the host has fewer cores than ranks: then a yield lets
	 * another rank work, and comes at once, and sleep comes later
	 */
	BlockingProgress(ProgressEngine office, MessageFailures failures, boolean crowded) {
		this.office = office;
		this.failures = failures;
		this.spins = crowded ? 1 : SPINS;
		this.yieldNanos = crowded ? 10 * YIELD_NANOS : YIELD_NANOS;
	}

	/** Rounds without a move before a yield. */
	int spins() {
		return this.spins;
	}

	/** How long a thread yields before it sleeps. */
	long yieldNanos() {
		return this.yieldNanos;
	}

	/**
	 * Moves things on until an operation is done.
	 * @param first the rank to look at first
	 * @throws io.tutti.engine.CollectiveException if it cannot be done any more
	 */
	void until(Operation operation, int first) {
		int idleRounds = 0;
		int busyRounds = 0;
		long idleSince = 0;
		while (!operation.done) {
			if (this.office.progress((idleRounds % OTHERS_EVERY == OTHERS_EVERY - 1) ? ProgressEngine.ALL : first)) {
				idleRounds = 0;
				if (++busyRounds % BUSY_ROUNDS == 0) {
					this.failures.requireAlive(operation, System.nanoTime());
				}
			}
			else if (idleRounds++ < this.spins) {
				Thread.onSpinWait();
			}
			else {
				long now = System.nanoTime();
				idleSince = (idleRounds == this.spins + 1) ? now : idleSince;
				this.failures.requireAlive(operation, now);
				this.failures.requireNotInterrupted(operation, now);
				if (now - idleSince < this.yieldNanos) {
					Thread.yield();
				}
				else {
					this.office.sleep(Math.min(SLEEP_NANOS, operation.stopwatch.remainingNanos(now) + 1), operation);
					idleRounds = OTHERS_EVERY - 1;
				}
			}
		}
	}

}
