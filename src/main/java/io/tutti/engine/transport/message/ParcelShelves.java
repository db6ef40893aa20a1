package io.tutti.engine.transport.message;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * Parcels to be used again, by size: powers of two up to the largest message that is sent
 * unasked.
 */
final class ParcelShelves {

	private static final int LEAST_SHIFT = 8;

	private static final int SHELVES = 2 + Integer.numberOfTrailingZeros(Operation.EAGER_BYTES) - LEAST_SHIFT;

	private final @Nullable Parcel[] shelves = new Parcel[SHELVES];

	/** A parcel with room for so many bytes. */
	Parcel take(long bytes) {
		int shelf = shelfOf(bytes);
		Parcel parcel = this.shelves[shelf];
		if (parcel == null) {
			return new Parcel(shelf, (shelf == 0) ? 0 : 1L << (shelf - 1 + LEAST_SHIFT));
		}
		this.shelves[shelf] = parcel.next;
		parcel.next = null;
		return parcel;
	}

	void giveBack(Parcel parcel) {
		parcel.claimant = null;
		parcel.own = null;
		parcel.next = this.shelves[parcel.shelf];
		this.shelves[parcel.shelf] = parcel;
	}

	void clear() {
		Arrays.fill(this.shelves, null);
	}

	private static int shelfOf(long bytes) {
		if (bytes == 0) {
			return 0;
		}
		return 1 + Math.max(0, Long.SIZE - Long.numberOfLeadingZeros(bytes - 1) - LEAST_SHIFT);
	}

}
