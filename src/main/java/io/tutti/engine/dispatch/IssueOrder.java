package io.tutti.engine.dispatch;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Passes the turn between calls in the order they were issued. A call draws a ticket,
 * which is also its sequence number, and runs when all earlier calls are done. An
 * uncontended turn costs two volatile accesses.
 */
final class IssueOrder {

	private final AtomicLong issued = new AtomicLong();

	private volatile long serving;

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
		return this.serving == ticket;
	}

	/** The ticket whose turn it is. */
	long serving() {
		return this.serving;
	}

	/** Waits for the ticket's turn. An interrupt does not end the wait and stays set. */
	void awaitTurn(long ticket) {
		if (this.serving != ticket) {
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
		return this.serving == ticket || park(ticket, startNanos, timeoutNanos, true);
	}

	private boolean park(long ticket, long startNanos, long timeoutNanos, boolean interruptible) {
		boolean interrupted = false;
		this.lock.lock();
		try {
			this.waiting++;
			while (this.serving != ticket) {
				long leftNanos = timeoutNanos - (System.nanoTime() - startNanos);
				if (leftNanos <= 0) {
					return false;
				}
				try {
					this.passed.awaitNanos(leftNanos);
				}
				catch (InterruptedException ex) {
					interrupted = true;
					if (interruptible) {
						return false;
					}
				}
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
	 * Passes successive tickets as soon as the turn of the first comes, without blocking
	 * the caller.
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
		this.serving = ticket + 1;
		if (this.waiting > 0) {
			this.lock.lock();
			try {
				passForgone();
			}
			finally {
				this.lock.unlock();
			}
		}
	}

	/** Requires the lock. */
	private void passForgone() {
		for (Long next = this.forgone.remove(this.serving); next != null; next = this.forgone.remove(this.serving)) {
			this.waiting--;
			this.serving = next;
		}
		this.passed.signalAll();
	}

}
