package io.tutti.engine.p2p;

import io.tutti.engine.transport.IdleStrategy;

/**
 * Makes progress on the thread of a synchronous call until its operation is done. Pooled
 * with the operation.
 */
final class BlockingProgress implements IdleStrategy.Condition {

	/**
	 * Rounds between two looks at connections that the call does not wait for.
	 */
	private static final int OTHERS_EVERY = 32;

	private final MessageOperation operation;

	private final ProgressEngine engine;

	private final MessageFailures failures;

	private final IdleStrategy idle;

	BlockingProgress(MessageOperation operation, ProgressEngine engine, MessageFailures failures,
			IdleStrategy.Limits limits) {
		this.operation = operation;
		this.engine = engine;
		this.failures = failures;
		this.idle = new IdleStrategy(limits, this);
	}

	/**
	 * Makes progress until the operation is done.
	 * @param first the rank to look at first
	 * @throws io.tutti.CollectiveException if it cannot be done any more
	 */
	void untilDone(int first) {
		this.idle.begin();
		while (!this.operation.done) {
			boolean all = this.idle.slept() || this.idle.idleRounds() % OTHERS_EVERY == OTHERS_EVERY - 1;
			if (this.engine.progress(all ? ProgressEngine.ALL : first)) {
				this.idle.moved();
			}
			else {
				this.idle.stalled();
			}
		}
	}

	@Override
	public void check(long nowNanos) {
		this.failures.requireAlive(this.operation, nowNanos);
		this.failures.requireNotInterrupted(this.operation, nowNanos);
	}

	@Override
	public void sleep(long maxNanos) {
		long remainingNanos = this.operation.remainingNanos(System.nanoTime());
		this.engine.sleep(Math.min(maxNanos, remainingNanos + 1), this.operation);
	}

}
