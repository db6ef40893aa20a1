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

	private static final int LEAST_SHIFT = 8;

	private static final int CLASSES = 2 + Integer.numberOfTrailingZeros(LARGEST_BYTES) - LEAST_SHIFT;

	/** Minimum charge per message, for its object. */
	private static final long LEAST_BYTES = 1 << LEAST_SHIFT;

	/** Most bytes of unused buffers. */
	private static final long MAX_IDLE_BYTES = 8 << 20;

	private final @Nullable UnexpectedMessage[] free = new UnexpectedMessage[CLASSES];

	private final UnexpectedMessageBudget unexpected;

	/** Bytes that this group has taken from the budget. */
	private long unexpectedHere;

	private long idleBytes;

	BufferPool(UnexpectedMessageBudget unexpected) {
		this.unexpected = unexpected;
	}

	/** A buffer of at least so many bytes. */
	UnexpectedMessage take(long bytes) {
		int sizeClass = classOf(bytes);
		UnexpectedMessage buffer = this.free[sizeClass];
		if (buffer == null) {
			return new UnexpectedMessage(sizeClass, (sizeClass == 0) ? 0 : 1L << (sizeClass - 1 + LEAST_SHIFT));
		}
		this.free[sizeClass] = buffer.next;
		this.idleBytes -= buffer.capacity();
		buffer.next = null;
		return buffer;
	}

	/** A buffer for an unexpected message; {@code null} if the budget is exhausted. */
	@Nullable UnexpectedMessage takeUnexpected(long bytes) {
		long charge = chargeOf(bytes);
		if (!reserve(charge)) {
			return null;
		}
		UnexpectedMessage buffer = take(bytes);
		buffer.charge = charge;
		return buffer;
	}

	/**
	 * Takes memory from the budget until the group is closed.
	 * @return whether it was left
	 */
	boolean reserve(long bytes) {
		if (!this.unexpected.take(bytes)) {
			return false;
		}
		this.unexpectedHere += bytes;
		return true;
	}

	/** The budget for unexpected messages, in bytes. */
	long unexpectedLimit() {
		return this.unexpected.limit();
	}

	/** The memory that an unexpected message takes. */
	static long chargeOf(long bytes) {
		int sizeClass = classOf(bytes);
		return (sizeClass == 0) ? LEAST_BYTES : 1L << (sizeClass - 1 + LEAST_SHIFT);
	}

	void giveBack(UnexpectedMessage buffer) {
		if (buffer.charge > 0) {
			this.unexpected.giveBack(buffer.charge);
			this.unexpectedHere -= buffer.charge;
			buffer.charge = 0;
		}
		buffer.eager = false;
		buffer.claimant = null;
		buffer.own = null;
		if (this.idleBytes + buffer.capacity() <= MAX_IDLE_BYTES) {
			this.idleBytes += buffer.capacity();
			buffer.next = this.free[buffer.sizeClass];
			this.free[buffer.sizeClass] = buffer;
		}
	}

	/** Forgets all buffers, also those in use. */
	void clear() {
		Arrays.fill(this.free, null);
		this.unexpected.giveBack(this.unexpectedHere);
		this.unexpectedHere = 0;
	}

	private static int classOf(long bytes) {
		if (bytes == 0) {
			return 0;
		}
		return 1 + Math.max(0, Long.SIZE - Long.numberOfLeadingZeros(bytes - 1) - LEAST_SHIFT);
	}

}
