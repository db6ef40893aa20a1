package io.tutti.engine;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Passes the turn between calls in the order they were issued. A call draws a ticket,
 * which is also its sequence number, and runs when all before it are done. The turn of a
 * lone caller costs two volatile accesses.
 */
final class IssueOrder {

	private final AtomicLong issued = new AtomicLong();

	private volatile long serving;

	private volatile int waiting;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition passed = this.lock.newCondition();

	/** Draws the next ticket. */
	long draw() {
		return this.issued.getAndIncrement();
	}

	/** Whether it is the ticket's turn. */
	boolean isTurn(long ticket) {
		return this.serving == ticket;
	}

	/**
	 * Waits until it is the ticket's turn; an interrupt is kept for the call to see.
	 * @return whether there was anything to wait for
	 */
	boolean awaitTurn(long ticket) {
		if (this.serving == ticket) {
			return false;
		}
		this.lock.lock();
		try {
			this.waiting++;
			while (this.serving != ticket) {
				this.passed.awaitUninterruptibly();
			}
		}
		finally {
			this.waiting--;
			this.lock.unlock();
		}
		return true;
	}

	/** Ends the ticket's turn. */
	void pass(long ticket) {
		this.serving = ticket + 1;
		if (this.waiting > 0) {
			this.lock.lock();
			try {
				this.passed.signalAll();
			}
			finally {
				this.lock.unlock();
			}
		}
	}

}
