package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * All buckets of a model. Every rank reduces them strictly in bucket order, regardless of
 * the order in which its gradients are completed.
 */
final class GradientBuckets implements AutoCloseable {

	/**
	 * How long {@link #close()} waits for each reduction that a broken group left
	 * running.
	 */
	private static final long CLOSE_SECONDS = 30;

	private final GradientMemory place;

	private final DataParallelSettings settings;

	private final List<GradientBucket> buckets = new ArrayList<>();

	private final List<GradientHook> hooks = new ArrayList<>();

	/** Number of buckets whose reduction has started in this step. */
	private int started;

	/**
	 * Bucket of the last announced gradient, which autograd is accumulating. The gradient
	 * is complete when the next one is announced or the backward pass is over.
	 */
	private @Nullable GradientBucket accumulating;

	/** Whether this rank has computed a gradient twice in this step. */
	private boolean repeated;

	/** First failure of a hook, rethrown later since native code calls the hooks. */
	private @Nullable RuntimeException hookFailure;

	private long allReducedBytes;

	private long waitedNanos;

	/**
	 * Creates the buckets for the gradients of some parameters.
	 * @param place gradient memory on the parameters' device; this object closes it
	 * @param piggybackedValues number of piggybacked values in the last bucket
	 */
	GradientBuckets(GradientMemory place, List<Tensor> parameters, DataParallelSettings settings,
			int piggybackedValues) {
		this.place = place;
		this.settings = settings;
		BucketPlan plan = BucketPlan.of(parameters.stream().map(GradientBuckets::bytes).toList(),
				settings.bucketBytes());
		for (List<Integer> members : plan.buckets()) {
			boolean last = members == plan.buckets().getLast();
			add(members.stream().map(parameters::get).toList(), last ? piggybackedValues : 0,
					last && settings.overlap());
		}
	}

	/** The piggybacked values of the last bucket. */
	MemorySegment piggybackedValues() {
		return this.buckets.getLast().piggybackedValues();
	}

	int count() {
		return this.buckets.size();
	}

	long allReducedBytes() {
		return this.allReducedBytes;
	}

	long waitedNanos() {
		return this.waitedNanos;
	}

	void zero() {
		if (this.accumulating != null) {
			throw new IllegalStateException(
					"zeroGradients() was called between a backward pass and synchronizeGradients(),"
							+ " when other ranks may already have some of the gradients: call synchronizeGradients() first,"
							+ " or disable overlap in the settings");
		}
		this.buckets.forEach(GradientBucket::zero);
	}

	/**
	 * Reduces the buckets that the backward pass has not started, on the calling thread,
	 * and waits for the others. The group's deadline applies to each reduction. Every
	 * rank makes the same reductions regardless of its backward passes, so that all ranks
	 * start the next step in the same state.
	 * @throws IllegalStateException on every rank, if a rank has computed a gradient
	 * twice: the first value was reduced while the second was added
	 */
	void synchronize() {
		long start = System.nanoTime();
		RuntimeException failure = this.hookFailure;
		if (failure != null) {
			this.hookFailure = null;
			throw failure;
		}
		if (this.repeated) {
			this.buckets.getLast().invalidate();
		}
		while (this.started < this.buckets.size()) {
			count(this.buckets.get(this.started++)).reduce(this.settings.scaling().op());
		}
		this.buckets.forEach(GradientBuckets::awaitReduction);
		this.buckets.forEach(GradientBucket::nextStep);
		this.started = 0;
		this.accumulating = null;
		this.waitedNanos += System.nanoTime() - start;
		requireValid();
	}

	private void requireValid() {
		if (!this.settings.overlap() || !this.buckets.getLast().isInvalid()) {
			return;
		}
		String rank = this.repeated ? "this rank" : "another rank";
		this.repeated = false;
		zero();
		throw new IllegalStateException(rank + " made a second backward pass before synchronizeGradients(), while the"
				+ " gradients of the first were being reduced. All gradients are zero now on every rank, and the next"
				+ " step can begin; to accumulate several backward passes, disable overlap in the settings");
	}

	@Override
	public void close() {
		this.hooks.forEach(GradientHook::remove);
		this.buckets.forEach(GradientBucket::detach);
		if (this.buckets.stream().allMatch(GradientBuckets::isIdle)) {
			this.place.close();
		}
	}

	/**
	 * Adds a bucket.
	 * @param marked whether the last element is reserved for the mark of invalid
	 * gradients
	 */
	private void add(List<Tensor> parameters, long piggybackedValues, boolean marked) {
		long piggybackedBytes = piggybackedValues * Float.BYTES;
		long bytes = parameters.stream().mapToLong(GradientBuckets::bytes).sum() + piggybackedBytes
				+ (marked ? Float.BYTES : 0);
		MemorySegment memory = this.place.allocate(bytes);
		List<GradientSlot> slots = new ArrayList<>();
		long offset = 0;
		for (Tensor parameter : parameters) {
			slots.add(new GradientSlot(parameter, memory.asSlice(offset, bytes(parameter))));
			offset += bytes(parameter);
		}
		GradientBucket bucket = new GradientBucket(this.place, memory, slots, memory.asSlice(offset, piggybackedBytes));
		bucket.zero();
		this.buckets.add(bucket);
		if (this.settings.overlap()) {
			slots.forEach((slot) -> this.hooks.add(new GradientHook(slot.parameter(), () -> announced(bucket, slot))));
		}
	}

	/** Action of a hook: the previously announced gradient is complete. */
	private void announced(GradientBucket bucket, GradientSlot slot) {
		try {
			if (!slot.announce()) {
				this.repeated = true;
				return;
			}
			if (this.accumulating != null) {
				this.accumulating.completeOne();
				startComplete();
			}
			this.accumulating = bucket;
		}
		catch (RuntimeException ex) {
			if (this.hookFailure == null) {
				this.hookFailure = ex;
			}
		}
	}

	private void startComplete() {
		while (this.started < this.buckets.size() && this.buckets.get(this.started).isComplete()) {
			count(this.buckets.get(this.started++)).startReducing(this.settings.scaling().op());
		}
	}

	private GradientBucket count(GradientBucket bucket) {
		this.allReducedBytes += bucket.bytes();
		return bucket;
	}

	private static void awaitReduction(GradientBucket bucket) {
		CompletableFuture<Void> reduction = bucket.reduction();
		if (reduction == null) {
			return;
		}
		try {
			reduction.join();
		}
		catch (CompletionException ex) {
			throw (ex.getCause() instanceof RuntimeException cause) ? cause : ex;
		}
	}

	/**
	 * Whether no reduction writes to the bucket any more. If one does, the memory is not
	 * freed.
	 */
	private static boolean isIdle(GradientBucket bucket) {
		CompletableFuture<Void> reduction = bucket.reduction();
		if (reduction == null) {
			return true;
		}
		return reduction.handle((_, _) -> true).completeOnTimeout(false, CLOSE_SECONDS, TimeUnit.SECONDS).join();
	}

	private static long bytes(Tensor parameter) {
		return parameter.numel() * Float.BYTES;
	}

}
