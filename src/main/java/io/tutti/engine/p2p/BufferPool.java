package io.tutti.engine.p2p;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * Parcels to be used again, by size: powers of two up to {@value #LARGEST_BYTES} bytes.
 */
final class BufferPool {

	/**
	 * More than any message that is sent unasked: pieces of larger ones on the heap pass
	 * through, and each costs a system call.
	 */
	static final int LARGEST_BYTES = 256 * 1024;

	private static final int LEAST_SHIFT = 8;

	private static final int SHELVES = 2 + Integer.numberOfTrailingZeros(LARGEST_BYTES) - LEAST_SHIFT;

	/** What even a message of no bytes takes up, in objects. */
	private static final long LEAST_BYTES = 1 << LEAST_SHIFT;

	/** Bytes of parcels that nobody uses at the moment, at most. */
	private static final long MAX_IDLE_BYTES = 8 << 20;

	private final @Nullable UnexpectedMessage[] shelves = new UnexpectedMessage[SHELVES];

	private final UnexpectedMessageBudget unexpected;

	/** What this group has of those. */
	private long unexpectedHere;

	private long idleBytes;

	BufferPool(UnexpectedMessageBudget unexpected) {
		this.unexpected = unexpected;
	}

	/** A parcel with room for so many bytes. */
	UnexpectedMessage take(long bytes) {
		int shelf = shelfOf(bytes);
		UnexpectedMessage parcel = this.shelves[shelf];
		if (parcel == null) {
			return new UnexpectedMessage(shelf, (shelf == 0) ? 0 : 1L << (shelf - 1 + LEAST_SHIFT));
		}
		this.shelves[shelf] = parcel.next;
		this.idleBytes -= parcel.capacity();
		parcel.next = null;
		return parcel;
	}

	/** A parcel for a message that nobody has asked for, if there is room for more. */
	@Nullable UnexpectedMessage takeUnexpected(long bytes) {
		int shelf = shelfOf(bytes);
		long charge = Math.max(LEAST_BYTES, (shelf == 0) ? 0 : 1L << (shelf - 1 + LEAST_SHIFT));
		if (!this.unexpected.take(charge)) {
			return null;
		}
		UnexpectedMessage parcel = take(bytes);
		parcel.charge = charge;
		this.unexpectedHere += charge;
		return parcel;
	}

	/** What is kept of such messages at most, in bytes. */
	long unexpectedLimit() {
		return this.unexpected.limit();
	}

	void giveBack(UnexpectedMessage parcel) {
		if (parcel.charge > 0) {
			this.unexpected.giveBack(parcel.charge);
			this.unexpectedHere -= parcel.charge;
			parcel.charge = 0;
		}
		parcel.claimant = null;
		parcel.own = null;
		if (this.idleBytes + parcel.capacity() <= MAX_IDLE_BYTES) {
			this.idleBytes += parcel.capacity();
			parcel.next = this.shelves[parcel.shelf];
			this.shelves[parcel.shelf] = parcel;
		}
	}

	/** Forgets all parcels, also those that are in use. */
	void clear() {
		Arrays.fill(this.shelves, null);
		this.unexpected.giveBack(this.unexpectedHere);
		this.unexpectedHere = 0;
	}

	private static int shelfOf(long bytes) {
		if (bytes == 0) {
			return 0;
		}
		return 1 + Math.max(0, Long.SIZE - Long.numberOfLeadingZeros(bytes - 1) - LEAST_SHIFT);
	}

}
