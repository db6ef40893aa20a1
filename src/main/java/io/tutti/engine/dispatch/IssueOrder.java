package io.tutti.engine.dispatch;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Passes the turn between calls in the order they were issued. A call draws a ticket,
 * which is also its sequence number, and runs when all earlier calls are done. Passing an
 * uncontended turn takes no memory fence, which would wait for the operand that the call
 * has just posted for other ranks. So it may miss a thread that begins to wait at that
 * moment; such a thread looks again a little later.
 */
final class IssueOrder {

	/** Looks before the first pause: longer than a store takes to become visible. */
	private static final int LOOKS = 256;

	/** First pause of a thread that waits. From then on every pass sees the thread. */
	private static final long PAUSE_NANOS = 1_000_000;

	private final AtomicLong issued = new AtomicLong();

	private final AtomicLong serving = new AtomicLong();

	/** Threads that wait, and forgone tickets. */
	private volatile int waiting;

	/** The ticket after the last of forgone tickets, by the first. */
	private final Map<Long, Long> forgone = new HashMap<>();

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition passed = this.lock.newCondition();

	/**
	 * Draws successive tickets.
	 * @return the first
	 */
	long draw(int tickets) {
		return this.issued.getAndAdd(tickets);
	}

	/** Whether it is the ticket's turn. */
	boolean isTurn(long ticket) {
		return serving() == ticket;
	}

	/** The ticket whose turn it is. */
	long serving() {
		return this.serving.get();
	}

	/** Waits for the ticket's turn. An interrupt does not end the wait and stays set. */
	void awaitTurn(long ticket) {
		if (!isTurn(ticket)) {
			park(ticket, System.nanoTime(), Long.MAX_VALUE, false);
		}
	}

	/**
	 * Waits for the ticket's turn until a call's deadline or an interrupt, which stays
	 * set.
	 * @return whether it is the ticket's turn; otherwise the ticket takes its turn later
	 * and must be passed then
	 */
	boolean awaitTurn(long ticket, long startNanos, long timeoutNanos) {
		return isTurn(ticket) || park(ticket, startNanos, timeoutNanos, true);
	}

	private boolean park(long ticket, long startNanos, long timeoutNanos, boolean interruptible) {
		boolean interrupted = false;
		this.lock.lock();
		try {
			this.waiting++;
			passForgone();
			for (int look = 0; look < LOOKS && !isTurn(ticket); look++) {
				Thread.onSpinWait();
			}
			long pauseNanos = PAUSE_NANOS;
			while (!isTurn(ticket)) {
				long leftNanos = timeoutNanos - (System.nanoTime() - startNanos);
				if (leftNanos <= 0) {
					return false;
				}
				try {
					this.passed.awaitNanos(Math.min(leftNanos, pauseNanos));
				}
				catch (InterruptedException ex) {
					interrupted = true;
					if (interruptible) {
						return false;
					}
				}
				pauseNanos = Long.MAX_VALUE;
				passForgone();
			}
			return true;
		}
		finally {
			this.waiting--;
			this.lock.unlock();
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Passes successive tickets once the turn of the first comes, without blocking the
	 * caller; at the latest when the next ticket waits.
	 */
	void forgo(long first, int tickets) {
		this.lock.lock();
		try {
			this.waiting++;
			this.forgone.put(first, first + tickets);
			passForgone();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Ends the turn of a ticket; of successive tickets, the last. */
	void pass(long ticket) {
		this.serving.setRelease(ticket + 1);
		if (this.waiting > 0) {
			this.lock.lock();
			try {
				passForgone();
				this.passed.signalAll();
			}
			finally {
				this.lock.unlock();
			}
		}
	}

	/** Requires the lock. */
	private void passForgone() {
		boolean moved = false;
		for (Long next = this.forgone.remove(serving()); next != null; next = this.forgone.remove(serving())) {
			this.waiting--;
			this.serving.set(next);
			moved = true;
		}
		if (moved) {
			this.passed.signalAll();
		}
	}

}
