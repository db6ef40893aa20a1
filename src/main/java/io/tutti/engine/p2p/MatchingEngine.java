package io.tutti.engine.p2p;

import org.jspecify.annotations.Nullable;

/**
 * Brings messages and receives together by source and tag, each in the order they came.
 */
final class MatchingEngine {

	private @Nullable Operation firstPosted;

	private @Nullable Operation lastPosted;

	private @Nullable UnexpectedMessage firstParcel;

	private @Nullable UnexpectedMessage lastParcel;

	/** The first receive that takes such a message; it is taken out. */
	@Nullable Operation receiveFor(int source, int tag) {
		Operation before = null;
		for (Operation posted = this.firstPosted; posted != null; posted = posted.next) {
			if (posted.takes(source, tag)) {
				unlink(posted, before);
				return posted;
			}
			before = posted;
		}
		return null;
	}

	private void unlink(Operation posted, @Nullable Operation before) {
		if (before == null) {
			this.firstPosted = posted.next;
		}
		else {
			before.next = posted.next;
		}
		if (posted == this.lastPosted) {
			this.lastPosted = before;
		}
		posted.next = null;
	}

	/** The first message that a receive takes; it is taken out. */
	@Nullable UnexpectedMessage parcelFor(Operation receive) {
		UnexpectedMessage before = null;
		for (UnexpectedMessage parcel = this.firstParcel; parcel != null; parcel = parcel.next) {
			if (receive.takes(parcel.source, parcel.tag)) {
				unlink(parcel, before);
				return parcel;
			}
			before = parcel;
		}
		return null;
	}

	private void unlink(UnexpectedMessage parcel, @Nullable UnexpectedMessage before) {
		if (before == null) {
			this.firstParcel = parcel.next;
		}
		else {
			before.next = parcel.next;
		}
		if (parcel == this.lastParcel) {
			this.lastParcel = before;
		}
		parcel.next = null;
	}

	/** A receive waits for its message. */
	void add(Operation receive) {
		Operation last = this.lastPosted;
		if (last == null) {
			this.firstPosted = receive;
		}
		else {
			last.next = receive;
		}
		this.lastPosted = receive;
	}

	/** A message waits for its receive. */
	void add(UnexpectedMessage parcel) {
		UnexpectedMessage last = this.lastParcel;
		if (last == null) {
			this.firstParcel = parcel;
		}
		else {
			last.next = parcel;
		}
		this.lastParcel = parcel;
	}

	void clear() {
		this.firstPosted = null;
		this.lastPosted = null;
		this.firstParcel = null;
		this.lastParcel = null;
	}

}
