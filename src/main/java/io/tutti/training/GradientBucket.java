package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.Work;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Gradients of one element type that are reduced together, in place.
 */
final class GradientBucket {

	private final GradientMemory place;

	private final List<GradientSlot> slots;

	private final DataType type;

	/** Reduced with the gradients; only in the last bucket. */
	private final @Nullable GradientStatus status;

	/** Memory for all gradients as one tensor, if they are packed. */
	private final @Nullable Tensor flat;

	private final @Nullable BucketHook hook;

	/** The gradients as one tensor, and what is reduced of it, if there is a hook. */
	private @Nullable Tensor whole;

	private @Nullable Tensor sent;

	/** How the hook has failed, for the other ranks; {@code null} if it has not. */
	private @Nullable String hookFailure;

	/** Number of gradients that the backward pass has not completed yet. */
	private int incomplete;

	private @Nullable Work<Void> reduction;

	/**
	 * A bucket.
	 * @param slots gradients of one type; empty in a bucket for the status alone
	 * @param flat memory of the gradients' type and total size, if they are packed
	 */
	GradientBucket(GradientMemory place, List<GradientSlot> slots, @Nullable MemorySegment flat,
			@Nullable BucketHook hook, @Nullable GradientStatus status) {
		this.place = place;
		this.slots = List.copyOf(slots);
		this.type = slots.isEmpty() ? DataType.FLOAT32 : slots.getFirst().type();
		this.hook = hook;
		this.status = status;
		this.flat = (flat != null) ? flat(flat, slots.getFirst()) : null;
		this.incomplete = slots.size();
	}

	private static Tensor flat(MemorySegment memory, GradientSlot slot) {
		Tensor flat = TensorMemory.flat(memory, slot.parameter().tensor());
		flat.retainReference();
		return flat;
	}

	List<GradientSlot> slots() {
		return this.slots;
	}

	/** Counts one more gradient as complete. */
	void completeOne() {
		this.incomplete--;
	}

	boolean isComplete() {
		return this.incomplete == 0;
	}

	/**
	 * Reduces the bucket on the calling thread, with the status, if it has one.
	 * @return bytes of the gradients' reduction
	 */
	long reduce(ReduceOp op) {
		List<MemorySegment> buffers = gather();
		long bytes = bytes(buffers);
		if (this.status != null) {
			this.status.send();
			buffers.add(this.status.memory());
		}
		this.place.allReduce(buffers, sentType(), op);
		return bytes;
	}

	/**
	 * Starts the reduction on the group's worker thread. Never called for the bucket with
	 * the status, which is known after the backward pass.
	 * @return bytes of the gradients' reduction
	 */
	long startReducing(ReduceOp op) {
		List<MemorySegment> buffers = gather();
		this.slots.forEach(GradientSlot::conceal);
		this.reduction = this.place.allReduceAsync(buffers, sentType(), op);
		return bytes(buffers);
	}

	private static long bytes(List<MemorySegment> buffers) {
		return buffers.stream().mapToLong(MemorySegment::byteSize).sum();
	}

	private DataType sentType() {
		Tensor values = this.sent;
		return (values != null) ? TensorMemory.type(values).orElseThrow() : this.type;
	}

	/** Waits for the reduction, if any was started, and distributes its results. */
	void finish() {
		if (this.reduction != null) {
			this.reduction.await();
			this.reduction = null;
		}
		decode();
		if (this.flat != null) {
			unpack(this.flat);
		}
		if (this.status != null) {
			this.status.fetch();
		}
		this.slots.forEach(GradientSlot::release);
		this.incomplete = this.slots.size();
	}

	/** The reduction that was started in this step, {@code null} if none. */
	@Nullable Work<Void> reduction() {
		return this.reduction;
	}

	/** Frees the memory, also what a failed reduction has left. */
	void close() {
		releaseEncoded();
		if (this.flat != null) {
			this.flat.releaseReference();
		}
	}

	private List<MemorySegment> gather() {
		List<MemorySegment> buffers = new ArrayList<>(this.slots.size() + 1);
		this.slots.forEach(GradientSlot::take);
		if (this.flat != null) {
			pack(this.flat);
		}
		if (this.hook != null) {
			buffers.add(encode(this.hook));
		}
		else if (this.flat != null) {
			buffers.add(TensorMemory.of(this.flat));
		}
		else {
			this.slots.forEach((slot) -> buffers.add(slot.memory()));
		}
		return buffers;
	}

	/**
	 * Runs the hook before the reduction. Its tensors live until {@link #decode()} or
	 * {@link #close()}.
	 */
	private MemorySegment encode(BucketHook before) {
		try (PointerScope _ = new PointerScope(); NoGradGuard _ = new NoGradGuard()) {
			Tensor all = (this.flat != null) ? new Tensor(this.flat)
					: TensorMemory.flattened(this.slots.getFirst().taken());
			Tensor values = new Tensor(called(before, "before", () -> before.beforeReduction(all)));
			ParameterPlacement device = ParameterPlacement.of(all);
			if (!values.is_contiguous() || TensorMemory.type(values).isEmpty()
					|| !ParameterPlacement.of(values).equals(device)) {
				throw new IllegalStateException("hook " + before.name() + " returned a " + values.scalar_type().intern()
						+ " tensor of shape " + TensorMemory.shape(values) + " on " + ParameterPlacement.of(values)
						+ ", but it must be contiguous, of a float type and on " + device);
			}
			all.retainReference();
			values.retainReference();
			this.whole = all;
			this.sent = values;
			return TensorMemory.of(values);
		}
	}

	private Tensor called(BucketHook by, String when, Supplier<@Nullable Tensor> call) {
		String place = when + " the reduction of the bucket of " + this.slots.getFirst().parameter();
		Tensor result;
		try {
			result = call.get();
		}
		catch (RuntimeException | Error ex) {
			this.hookFailure = "hook " + by.name() + " failed " + place + ": " + ex;
			throw ex;
		}
		if (result == null) {
			throw new IllegalStateException("hook " + by.name() + " returned null " + place);
		}
		return result;
	}

	/** How the hook has failed, for the other ranks; {@code null} if it has not. */
	@Nullable String hookFailure() {
		return this.hookFailure;
	}

	/** Runs the hook after the reduction. */
	private void decode() {
		Tensor all = this.whole;
		Tensor values = this.sent;
		BucketHook after = this.hook;
		if (all == null || values == null || after == null) {
			return;
		}
		try (PointerScope _ = new PointerScope(); NoGradGuard _ = new NoGradGuard()) {
			called(after, "after", () -> {
				after.afterReduction(values, all);
				return all;
			});
		}
		finally {
			releaseEncoded();
		}
	}

	private void releaseEncoded() {
		if (this.whole != null && this.sent != null) {
			this.whole.releaseReference();
			this.sent.releaseReference();
		}
		this.whole = null;
		this.sent = null;
	}

	private void pack(Tensor all) {
		try (NoGradGuard _ = new NoGradGuard(); TensorVector parts = new TensorVector()) {
			for (GradientSlot slot : this.slots) {
				try (Tensor part = TensorMemory.flattened(slot.taken())) {
					parts.push_back(part);
				}
			}
			torch.cat_out(all, parts).close();
		}
	}

	private void unpack(Tensor all) {
		try (NoGradGuard _ = new NoGradGuard()) {
			long offset = 0;
			for (GradientSlot slot : this.slots) {
				try (Tensor part = TensorMemory.flattened(slot.taken());
						Tensor result = all.narrow(0, offset, part.numel())) {
					part.copy_(result);
					offset += part.numel();
				}
			}
		}
	}

}
