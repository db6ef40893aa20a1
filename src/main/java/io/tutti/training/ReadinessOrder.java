package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.tutti.DataType;
import io.tutti.ProcessGroup;

/**
 * The order in which gradients are expected to be complete. It begins as the reverse of
 * the parameters' order. After the first step it is the order that rank 0 has observed,
 * followed by late gradients, which some ranks did not compute. The same on every rank.
 * The idea is that of S. Li et al., "PyTorch Distributed: Experiences on Accelerating
 * Data Parallel Training", VLDB 2020.
 */
final class ReadinessOrder {

	private static final int ROOT = 0;

	private final ProcessGroup group;

	private final int parameters;

	/** Whether the order matters, since buckets are reduced during the backward pass. */
	private final boolean learns;

	/** Gradients in the order in which this rank has completed them in this step. */
	private final List<Integer> completed = new ArrayList<>();

	private final Set<Integer> late = new LinkedHashSet<>();

	private List<Integer> order;

	private boolean observed;

	ReadinessOrder(ProcessGroup group, int parameters, boolean learns) {
		this.group = group;
		this.parameters = parameters;
		this.learns = learns && group.worldSize() > 1;
		this.order = reversed(parameters);
	}

	private static List<Integer> reversed(int parameters) {
		return Stream.iterate(parameters - 1, (index) -> index >= 0, (index) -> index - 1).toList();
	}

	/** Plans buckets in this order. */
	BucketPlan plan(List<GradientSlot> slots, long bucketBytes) {
		List<BucketPlan.Part> parts = new ArrayList<>();
		this.order.stream()
			.filter((index) -> !this.late.contains(index))
			.forEach((index) -> parts.add(part(slots, index)));
		this.late.forEach((index) -> parts.add(part(slots, index)));
		return BucketPlan.of(parts, DataParallelSettings.FIRST_BUCKET_BYTES, bucketBytes);
	}

	private BucketPlan.Part part(List<GradientSlot> slots, int index) {
		GradientSlot slot = slots.get(index);
		return new BucketPlan.Part(index, slot.bytes(), slot.type(), this.late.contains(index));
	}

	/** Records that this rank has completed a gradient. */
	void completed(int index) {
		if (this.learns && !this.observed) {
			this.completed.add(index);
		}
	}

	/**
	 * Updates the order at the end of a step. A collective call until rank 0 has made a
	 * backward pass.
	 * @param status the reduced status of the step
	 * @return whether buckets must be planned again
	 */
	boolean learn(GradientStatus status) {
		if (!this.learns) {
			return false;
		}
		boolean changed = !this.observed && observe();
		for (int index = 0; index < this.parameters; index++) {
			if (!status.isUsedByAll(index)) {
				changed |= this.late.add(index);
			}
		}
		return changed;
	}

	/** Takes over the order of rank 0, if it made a backward pass. */
	private boolean observe() {
		int[] message = new int[this.parameters + 1];
		message[0] = this.completed.size();
		for (int index = 0; index < this.completed.size(); index++) {
			message[index + 1] = this.completed.get(index);
		}
		this.completed.clear();
		this.group.broadcast(MemorySegment.ofArray(message), DataType.INT32, ROOT);
		if (message[0] == 0) {
			return false;
		}
		this.observed = true;
		Set<Integer> next = new LinkedHashSet<>();
		for (int index = 1; index <= message[0]; index++) {
			next.add(message[index]);
		}
		next.addAll(reversed(this.parameters));
		boolean changed = !this.order.equals(List.copyOf(next));
		this.order = List.copyOf(next);
		return changed;
	}

}
