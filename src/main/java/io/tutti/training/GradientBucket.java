package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.tutti.engine.ReduceOp;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Gradients that lie side by side in their device's memory and are reduced together, in
 * place.
 */
final class GradientBucket {

	private final GradientMemory place;

	private final MemorySegment memory;

	/** All of the memory, for libtorch. */
	private final Tensor flat;

	private final List<GradientSlot> slots;

	private final MemorySegment passengers;

	private final MemorySegment passengersOnHost;

	/** Gradients that the backward pass has yet to complete. */
	private int incomplete;

	private @Nullable CompletableFuture<Void> reduction;

	/**
	 * A bucket over memory that holds the slots and, behind them, any other numbers.
	 */
	GradientBucket(GradientMemory place, MemorySegment memory, List<GradientSlot> slots, MemorySegment passengers) {
		this.place = place;
		this.memory = memory;
		this.slots = List.copyOf(slots);
		this.flat = TensorMemory.flat(memory, slots.getFirst().parameter());
		this.flat.retainReference();
		this.passengers = passengers;
		this.passengersOnHost = place.onHost(passengers);
		this.incomplete = slots.size();
	}

	long bytes() {
		return this.memory.byteSize();
	}

	/** Numbers that are reduced with the gradients, and set to zero with them. */
	MemorySegment passengers() {
		return this.passengersOnHost;
	}

	void attach() {
		this.slots.forEach(GradientSlot::attach);
	}

	void detach() {
		this.slots.forEach(GradientSlot::detach);
		this.flat.releaseReference();
	}

	/** Sets all gradients to zero. */
	void zero() {
		TensorMemory.zero(this.flat);
		this.passengersOnHost.fill((byte) 0);
		attach();
	}

	/** One more gradient is complete. */
	void completeOne() {
		this.incomplete--;
	}

	boolean isComplete() {
		return this.incomplete == 0;
	}

	/**
	 * Tells all ranks that this rank's gradients are not to be used; they know once the
	 * bucket is reduced. For a bucket that has a number to spare behind everything else.
	 */
	void spoil() {
		try (Tensor mark = mark(); Scalar spoiled = new Scalar(1.0)) {
			mark.fill_(spoiled);
		}
	}

	/** Whether any rank spoiled it, once it is reduced. */
	boolean isSpoiled() {
		try (Tensor mark = mark()) {
			return mark.item_float() != 0;
		}
	}

	private Tensor mark() {
		return this.flat.narrow(0, this.flat.numel() - 1, 1);
	}

	/** Reduces on this thread. */
	void reduce(ReduceOp op) {
		this.slots.forEach(GradientSlot::adopt);
		this.place.send(this.passengersOnHost, this.passengers);
		this.place.allReduce(this.memory, op);
		this.place.fetch(this.passengers, this.passengersOnHost);
	}

	/**
	 * Starts the reduction on the group's worker thread. Never of the last bucket, whose
	 * last gradient is known to be complete only when the backward pass is over: so no
	 * passenger is left behind.
	 */
	void startReducing(ReduceOp op) {
		this.slots.forEach(GradientSlot::adopt);
		this.reduction = this.place.allReduceAsync(this.memory, op);
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
