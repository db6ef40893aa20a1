package io.tutti.engine.p2p;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * Buffers to be used again, by size: powers of two up to {@value #LARGEST_BYTES} bytes.
 */
final class BufferPool {

	/**
	 * More than any eager message: larger ones are staged from the heap, and each buffer
	 * of them costs a system call.
	 */
	static final int LARGEST_BYTES = 256 * 1024;

	/** Minimum charge per message, for its object. */
	private static final int LEAST_BYTES = 256;

	/** Most bytes of unused buffers, except for one of each size. */
	private static final long MAX_IDLE_BYTES = 8 << 20;

	/** Chains of unused buffers; the first is of those without bytes. */
	private final @Nullable IncomingMessage[] free = new IncomingMessage[1 + classOf(LARGEST_BYTES)];

	private final UnexpectedMessageBudget unexpected;

	/** Bytes that this group has taken from the budget. */
	private long unexpectedHere;

	private long idleBytes;

	BufferPool(UnexpectedMessageBudget unexpected) {
		this.unexpected = unexpected;
	}

	/** A buffer of at least so many bytes. */
	IncomingMessage take(long bytes) {
		int sizeClass = classOf(bytes);
		IncomingMessage buffer = this.free[sizeClass];
		if (buffer == null) {
			return new IncomingMessage((bytes > 0) ? chargeOf(bytes) : 0, true);
		}
		this.free[sizeClass] = buffer.next;
		this.idleBytes -= buffer.capacity;
		buffer.next = null;
		return buffer;
	}

	/** A buffer for an unexpected message; {@code null} if the budget is exhausted. */
	@Nullable IncomingMessage takeUnexpected(long bytes) {
		if (!reserve(chargeOf(bytes))) {
			return null;
		}
		IncomingMessage buffer = take(bytes);
		buffer.charged = true;
		return buffer;
	}

	/**
	 * Takes memory from the budget until the group is closed.
	 * @return whether it was left
	 */
	boolean reserve(long bytes) {
		boolean left = this.unexpected.take(bytes);
		this.unexpectedHere += left ? bytes : 0;
		return left;
	}

	/** The budget for unexpected messages, in bytes. */
	long unexpectedLimit() {
		return this.unexpected.limit();
	}

	/** The memory that an unexpected message takes. */
	static long chargeOf(long bytes) {
		return (bytes <= LEAST_BYTES) ? LEAST_BYTES : Long.highestOneBit(bytes - 1) << 1;
	}

	/** Takes a buffer back, once nothing refers to it. */
	void giveBack(IncomingMessage buffer) {
		if (buffer.charged) {
			buffer.charged = false;
			release(chargeOf(buffer.capacity));
		}
		buffer.claimant = null;
		buffer.own = null;
		if (buffer.pooled) {
			addFree(buffer);
		}
	}

	private void addFree(IncomingMessage buffer) {
		int sizeClass = classOf(buffer.capacity);
		if (this.free[sizeClass] == null || this.idleBytes + buffer.capacity <= MAX_IDLE_BYTES) {
			this.idleBytes += buffer.capacity;
			buffer.next = this.free[sizeClass];
			this.free[sizeClass] = buffer;
		}
	}

	private void release(long bytes) {
		this.unexpected.giveBack(bytes);
		this.unexpectedHere -= bytes;
	}

	/** Forgets all buffers, also those in use. */
	void clear() {
		Arrays.fill(this.free, null);
		this.idleBytes = 0;
		release(this.unexpectedHere);
	}

	private static int classOf(long bytes) {
		return (bytes == 0) ? 0 : 1 + Long.numberOfTrailingZeros(chargeOf(bytes) / LEAST_BYTES);
	}

}
