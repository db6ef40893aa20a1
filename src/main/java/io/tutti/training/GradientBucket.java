package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.tutti.engine.DataType;
import io.tutti.engine.ProcessGroup;
import io.tutti.engine.ReduceOp;
import org.jspecify.annotations.Nullable;

/**
 * Gradients that lie side by side in native memory and are reduced together, in place.
 */
final class GradientBucket {

	private final MemorySegment memory;

	private final List<GradientSlot> slots;

	private final MemorySegment passengers;

	/** Gradients that the backward pass has yet to complete. */
	private int incomplete;

	private @Nullable CompletableFuture<Void> reduction;

	/**
	 * A bucket over memory that holds the slots and, behind them, any other numbers.
	 */
	GradientBucket(MemorySegment memory, List<GradientSlot> slots, MemorySegment passengers) {
		this.memory = memory;
		this.slots = List.copyOf(slots);
		this.passengers = passengers;
		this.incomplete = slots.size();
	}

	long bytes() {
		return this.memory.byteSize();
	}

	/** Numbers that are reduced with the gradients, and set to zero with them. */
	MemorySegment passengers() {
		return this.passengers;
	}

	void attach() {
		this.slots.forEach(GradientSlot::attach);
	}

	void detach() {
		this.slots.forEach(GradientSlot::detach);
	}

	/** Sets all gradients to zero. */
	void zero() {
		this.memory.fill((byte) 0);
		attach();
	}

	/** One more gradient is complete. */
	void completeOne() {
		this.incomplete--;
	}

	boolean isComplete() {
		return this.incomplete == 0;
	}

	/** Reduces on this thread. */
	void reduce(ProcessGroup group, ReduceOp op) {
		this.slots.forEach(GradientSlot::adopt);
		group.allReduce(this.memory, DataType.FLOAT32, op);
	}

	/** Starts the reduction on the group's worker thread. */
	void startReducing(ProcessGroup group, ReduceOp op) {
		this.slots.forEach(GradientSlot::adopt);
		this.reduction = group.allReduceAsync(this.memory, DataType.FLOAT32, op);
	}

	/** The reduction that was started and not yet finished, if any. */
	@Nullable CompletableFuture<Void> reduction() {
		return this.reduction;
	}

	/** Makes the bucket ready for the next backward pass. */
	void nextStep() {
		this.slots.forEach(GradientSlot::nextStep);
		this.incomplete = this.slots.size();
		this.reduction = null;
	}

}
