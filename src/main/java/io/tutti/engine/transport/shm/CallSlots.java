package io.tutti.engine.transport.shm;

import io.tutti.engine.spi.Fingerprint;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.CallContext;

/**
 * Slots in which each rank posts the call that it has entered: its fingerprint and, if it
 * is small, its operand. The other ranks read the slot in place. A call whose operands
 * all fit needs one read per rank.
 * <p>
 * A rank's post of round {@code k} lies in its slot {@code k mod SLOTS}. It is written
 * after every rank has entered round {@code k - SLOTS + 1} and so has finished the round
 * that the slot held. The round number, written last, publishes the slot.
 * <p>
 * A rank need not check every round of every other rank: later fingerprints cover the
 * rounds that it skips.
 */
public final class CallSlots {

	private static final int FINGERPRINT_OFFSET = Long.BYTES;

	private static final int TINY_OFFSET = FINGERPRINT_OFFSET + Fingerprint.BYTES;

	/** Operands up to this size share the fingerprint's line. */
	private static final int TINY_BYTES = HostLayout.SLOT_HEADER_BYTES - TINY_OFFSET;

	private final CallContext context;

	private final Doorbell doorbell;

	private final WaitPolicy waiting;

	private final int ranks;

	private final int self;

	private final long capacity;

	/** Addresses of all slots, by rank and round. */
	private final long[] addresses;

	/** The latest round that each rank is known to have entered. */
	private final long[] entered;

	/** The latest round in which each rank's fingerprint matched this rank's. */
	private final long[] agreed;

	private long round;

	CallSlots(HostMemory memory, CallContext context, Doorbell doorbell, WaitPolicy waiting) {
		this.capacity = memory.layout().slotOperandBytes();
		this.context = context;
		this.doorbell = doorbell;
		this.waiting = waiting;
		this.ranks = memory.ranks();
		this.self = memory.self();
		this.entered = new long[this.ranks];
		this.agreed = new long[this.ranks];
		this.addresses = new long[this.ranks * HostLayout.SLOTS];
		for (int i = 0; i < this.addresses.length; i++) {
			this.addresses[i] = memory.layout().slot(i / HostLayout.SLOTS, i % HostLayout.SLOTS);
		}
	}

	/** Largest operand that can be posted, in bytes. */
	public long capacity() {
		return this.capacity;
	}

	/** Number of this call. */
	long round() {
		return this.round;
	}

	/** Begins the next round: waits until this rank's slot is free. */
	void begin() {
		this.round++;
		long left = earlier(this.round);
		for (int rank = 0; rank < this.ranks; rank++) {
			if (this.entered[rank] < left && rank != this.self) {
				awaitEntered(rank, left);
			}
		}
	}

	/** The round that every rank must have entered before a round's slot is written. */
	private static long earlier(long round) {
		return round - HostLayout.SLOTS + 1;
	}

	private void awaitEntered(int rank, long wanted) {
		while (true) {
			for (long candidate = this.round - 1; candidate >= wanted; candidate--) {
				if (SharedWords.acquire(slot(rank, candidate)) == candidate) {
					this.entered[rank] = candidate;
					this.waiting.moved();
					return;
				}
			}
			this.waiting.stalled();
		}
	}

	/** Posts the call without an operand. */
	public void post() {
		post(0, 0);
	}

	/** Posts the call with its operand, which is copied. */
	public void post(long address, long bytes) {
		long slot = slot(this.self, this.round);
		if (bytes > 0) {
			NativeMemory.copy(address, slot + offset(bytes), bytes);
		}
		// Last, so that a rank that polls the line takes it from this core only once.
		Fingerprint.copy(this.context.fingerprint(), slot + FINGERPRINT_OFFSET);
		SharedWords.release(slot, this.round);
		this.doorbell.ringAll();
		if (bytes <= TINY_BYTES && !this.context.call().collective().isRooted()) {
			prepareNext();
		}
	}

	/**
	 * Writes to the line of the next round's slot, if that is free. So this core owns the
	 * line by the time it posts, instead of waiting for it then. It repays only if the
	 * slot is that line, and not if another rank may poll the line already: where one
	 * rank is the root, ranks run ahead of each other.
	 */
	private void prepareNext() {
		for (int rank = 0; rank < this.ranks; rank++) {
			if (this.entered[rank] < earlier(this.round + 1) && rank != this.self) {
				return;
			}
		}
		NativeMemory.putLong(slot(this.self, this.round + 1) + FINGERPRINT_OFFSET, 0);
	}

	/**
	 * Whether a rank has entered this call.
	 * @throws io.tutti.CollectiveException if it has entered a different call, or had a
	 * different earlier call
	 */
	public boolean arrived(int rank) {
		if (this.agreed[rank] == this.round || rank == this.self) {
			return true;
		}
		long slot = slot(rank, this.round);
		if (SharedWords.acquire(slot) != this.round) {
			return false;
		}
		if (!Fingerprint.same(this.context.fingerprint(), slot + FINGERPRINT_OFFSET)) {
			throw this.context.mismatch(rank, slot + FINGERPRINT_OFFSET);
		}
		this.agreed[rank] = this.round;
		this.entered[rank] = this.round;
		return true;
	}

	/** Waits until a rank has entered this call. */
	public void await(int rank) {
		awaitArrival(rank);
		this.waiting.moved();
	}

	/** Waits until every rank has entered this call. */
	public void awaitAll() {
		for (int rank = 0; rank < this.ranks; rank++) {
			awaitArrival(rank);
		}
		this.waiting.moved();
	}

	private void awaitArrival(int rank) {
		while (!arrived(rank)) {
			this.waiting.stalled();
		}
	}

	/** Address of the operand of that size that an arrived rank has posted. */
	public long operand(int rank, long bytes) {
		return slot(rank, this.round) + offset(bytes);
	}

	private long slot(int rank, long round) {
		return this.addresses[rank * HostLayout.SLOTS + (int) (round & HostLayout.SLOTS - 1)];
	}

	private static long offset(long bytes) {
		return (bytes <= TINY_BYTES) ? TINY_OFFSET : HostLayout.SLOT_HEADER_BYTES;
	}

}
