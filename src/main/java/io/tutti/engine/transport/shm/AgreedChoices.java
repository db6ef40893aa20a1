package io.tutti.engine.transport.shm;

import java.util.Arrays;

/**
 * Choices of the ranks of a host whether ranks read each other's private memory, one of
 * each rank for each class of calls. A choice takes effect {@value #NOTICE} rounds later.
 * Then every rank has seen it, because no rank is more than {@value HostLayout#SLOTS}
 * rounds ahead of another one.
 */
public final class AgreedChoices {

	/** Classes of sizes for each collective. */
	public static final int SIZES = HostLayout.SIZES;

	/** Number of classes. */
	public static final int CLASSES = HostLayout.CHOICES;

	/** Rounds from a choice until it takes effect. */
	private static final int NOTICE = HostLayout.SLOTS + 1;

	/**
	 * Rounds until the next choice: every rank has reached the effect of the last one.
	 */
	private static final int MIN_ROUNDS = NOTICE + HostLayout.SLOTS - 1;

	private final HostMemory memory;

	private final CallSlots slots;

	/** Round of this rank's last choice in each class. */
	private final long[] chosen = new long[CLASSES];

	AgreedChoices(HostMemory memory, CallSlots slots) {
		this.memory = memory;
		this.slots = slots;
		Arrays.fill(this.chosen, -MIN_ROUNDS);
	}

	/**
	 * Chooses whether ranks read in calls of a class, from {@value #NOTICE} rounds after
	 * this one on. To be called with another value than the last time.
	 * @throws IllegalStateException fewer than {@value #MIN_ROUNDS} rounds after the last
	 * choice
	 */
	public void choose(int kind, boolean reads) {
		if (this.slots.round() < this.chosen[kind] + MIN_ROUNDS) {
			throw new IllegalStateException("the last choice has not taken effect on every rank");
		}
		this.chosen[kind] = this.slots.round();
		SharedWords.release(this.memory.layout().choice(this.memory.self(), kind),
				(this.chosen[kind] + NOTICE) << 1 | (reads ? 1 : 0));
	}

	/**
	 * Whether a rank has chosen that ranks read in this round, if its call is of a class;
	 * the same on every rank.
	 */
	public boolean reads(int rank, int kind) {
		long choice = SharedWords.acquire(this.memory.layout().choice(rank, kind));
		boolean chosen = (choice & 1) != 0;
		return (this.slots.round() >= choice >> 1) == chosen;
	}

}
