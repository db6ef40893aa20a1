package io.tutti.engine.p2p;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts what the messages that nobody has asked for yet take up on this rank, in all its
 * groups. Where there is no more room for such, nothing more is read from who sends them
 * before some are received. Safe for any number of threads.
 */
public final class UnexpectedMessageBudget {

	/** What a rank keeps of such messages, in bytes: a thousand of the largest. */
	public static final long LIMIT = 64 << 20;

	private final long limit;

	private final AtomicLong held = new AtomicLong();

	/**
	 * A count that begins at zero.
	 * @param limit in bytes
	 */
	public UnexpectedMessageBudget(long limit) {
		this.limit = limit;
	}

	/** Room for so many bytes more, if there is. */
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

	/** The most that is kept, in bytes. */
	long limit() {
		return this.limit;
	}

	/** What is kept now, in bytes. */
	public long held() {
		return this.held.get();
	}

}
