package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.util.List;

import io.tutti.ReduceOp;
import io.tutti.Work;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Gradients in contiguous memory of one device that are reduced together, in place.
 */
final class GradientBucket {

	private final GradientMemory place;

	private final MemorySegment memory;

	/** The whole memory as a tensor. */
	private final Tensor flat;

	private final List<GradientSlot> slots;

	private final MemorySegment piggybackedValues;

	private final MemorySegment piggybackedValuesOnHost;

	/** Number of gradients that the backward pass has not completed yet. */
	private int incomplete;

	private @Nullable Work<Void> reduction;

	/**
	 * A bucket over memory that holds the slots, followed by any piggybacked values.
	 */
	GradientBucket(GradientMemory place, MemorySegment memory, List<GradientSlot> slots,
			MemorySegment piggybackedValues) {
		this.place = place;
		this.memory = memory;
		this.slots = List.copyOf(slots);
		this.flat = TensorMemory.flat(memory, slots.getFirst().parameter());
		this.flat.retainReference();
		this.piggybackedValues = piggybackedValues;
		this.piggybackedValuesOnHost = place.onHost(piggybackedValues);
		this.incomplete = slots.size();
	}

	long bytes() {
		return this.memory.byteSize();
	}

	/**
	 * The piggybacked values in main memory, reduced and set to zero with the gradients.
	 */
	MemorySegment piggybackedValues() {
		return this.piggybackedValuesOnHost;
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
		this.piggybackedValuesOnHost.fill((byte) 0);
		attach();
	}

	/** Counts one more gradient as complete. */
	void completeOne() {
		this.incomplete--;
	}

	boolean isComplete() {
		return this.incomplete == 0;
	}

	/**
	 * Marks this rank's gradients as invalid. All ranks see the mark once the bucket is
	 * reduced. Only for a bucket whose last element is reserved for the mark.
	 */
	void invalidate() {
		try (Tensor mark = mark(); Scalar invalid = new Scalar(1.0)) {
			mark.fill_(invalid);
		}
	}

	/** Whether any rank set the mark; valid once the bucket is reduced. */
	boolean isInvalid() {
		try (Tensor mark = mark()) {
			return mark.item_float() != 0;
		}
	}

	private Tensor mark() {
		return this.flat.narrow(0, this.flat.numel() - 1, 1);
	}

	/** Reduces the bucket on the calling thread. */
	void reduce(ReduceOp op) {
		this.slots.forEach(GradientSlot::adopt);
		this.place.send(this.piggybackedValuesOnHost, this.piggybackedValues);
		this.place.allReduce(this.memory, op);
		this.place.fetch(this.piggybackedValues, this.piggybackedValuesOnHost);
	}

	/**
	 * Starts the reduction on the group's worker thread. Never called for the last
	 * bucket: its piggybacked values are final only after the backward pass.
	 */
	void startReducing(ReduceOp op) {
		this.slots.forEach(GradientSlot::adopt);
		this.reduction = this.place.allReduceAsync(this.memory, op);
	}

	/** The reduction that was started in this step, {@code null} if none. */
	@Nullable Work<Void> reduction() {
		return this.reduction;
	}

	/** Prepares the bucket for the next backward pass. */
	void nextStep() {
		this.slots.forEach(GradientSlot::nextStep);
		this.incomplete = this.slots.size();
		this.reduction = null;
	}

}
