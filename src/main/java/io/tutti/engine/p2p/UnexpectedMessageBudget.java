package io.tutti.engine.p2p;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bounds the memory of unexpected messages on this rank, in all its groups. Where it is
 * exhausted, messages stay with their senders until they are received. Safe for any
 * number of threads.
 */
public final class UnexpectedMessageBudget {

	/**
	 * Default in bytes: a thousand of the largest messages, or less where the JVM, which
	 * allows as much native memory as heap, has little.
	 */
	public static final long LIMIT = Math.min(64 << 20, Runtime.getRuntime().maxMemory() / 4);

	private final long limit;

	private final AtomicLong held = new AtomicLong();

	/**
	 * An unused budget.
	 * @param limit in bytes
	 */
	public UnexpectedMessageBudget(long limit) {
		this.limit = limit;
	}

	/** Takes so many bytes, if they are left. */
	boolean take(long bytes) {
		if (this.held.addAndGet(bytes) > this.limit) {
			this.held.addAndGet(-bytes);
			return false;
		}
		return true;
	}

	void giveBack(long bytes) {
		this.held.addAndGet(-bytes);
	}

	/** The whole budget, in bytes. */
	long limit() {
		return this.limit;
	}

	/** Bytes that are taken now. */
	public long held() {
		return this.held.get();
	}

}
