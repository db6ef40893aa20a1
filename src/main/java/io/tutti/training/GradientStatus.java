package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Float32 values that are reduced with the last gradients of a step: how the step went on
 * each rank, which parameters have a gradient, and piggybacked values of the program.
 */
final class GradientStatus {

	/** Ranks that computed a gradient twice. */
	private static final int REPEATED = 0;

	/** Ranks that added to the gradients of the step before. */
	private static final int STALE = 1;

	/** Ranks that computed a gradient. */
	private static final int COMPUTING = 2;

	/** All ranks. */
	private static final int RANKS = 3;

	private static final int HEADER = 4;

	private final GradientMemory place;

	private final MemorySegment memory;

	private final MemorySegment onHost;

	private final int piggybackedValues;

	private final int parameters;

	GradientStatus(GradientMemory place, int piggybackedValues, int parameters) {
		this.place = place;
		this.piggybackedValues = piggybackedValues;
		this.parameters = parameters;
		this.memory = place.allocate((long) (HEADER + piggybackedValues + parameters) * Float.BYTES);
		this.onHost = place.onHost(this.memory);
		this.onHost.fill((byte) 0);
	}

	/** The values for the reduction. */
	MemorySegment memory() {
		return this.memory;
	}

	/** The piggybacked values in main memory. */
	MemorySegment piggybackedValues() {
		return this.onHost.asSlice((long) HEADER * Float.BYTES, (long) this.piggybackedValues * Float.BYTES);
	}

	/** Fills in this rank's values, except the piggybacked ones. */
	void write(boolean repeated, boolean stale, List<GradientSlot> slots) {
		boolean computing = false;
		for (int index = 0; index < this.parameters; index++) {
			boolean contributes = slots.get(index).contributes();
			computing |= contributes;
			set(HEADER + this.piggybackedValues + index, contributes);
		}
		set(REPEATED, repeated);
		set(STALE, stale);
		set(COMPUTING, computing);
		set(RANKS, true);
	}

	/** Copies the values to the memory of the reduction. */
	void send() {
		this.place.send(this.onHost, this.memory);
	}

	/** Copies the reduced values back. */
	void fetch() {
		this.place.fetch(this.memory, this.onHost);
	}

	/** Whether a rank made a second backward pass. */
	boolean isRepeated() {
		return get(REPEATED) != 0;
	}

	/** Whether a rank added to the gradients of the step before. */
	boolean isStale() {
		return get(STALE) != 0;
	}

	/** Whether some ranks, but not all, added to the gradients of the step before. */
	boolean isStaleOnSomeRanks() {
		return isStale() && get(STALE) != get(RANKS);
	}

	/** Whether any rank has a gradient for the parameter. */
	boolean isUsed(int parameter) {
		return get(HEADER + this.piggybackedValues + parameter) != 0;
	}

	/** Whether each rank that has any gradient has one for the parameter. */
	boolean isUsedByAll(int parameter) {
		return get(HEADER + this.piggybackedValues + parameter) == get(COMPUTING);
	}

	private void set(int index, boolean value) {
		this.onHost.setAtIndex(ValueLayout.JAVA_FLOAT, index, value ? 1 : 0);
	}

	private float get(int index) {
		return this.onHost.getAtIndex(ValueLayout.JAVA_FLOAT, index);
	}

}
