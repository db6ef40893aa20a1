package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.tutti.CollectiveException;
import io.tutti.Work;
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
	private static final Duration CLOSING = Duration.ofSeconds(30);

	private final GradientMemory place;

	private final DataParallelSettings settings;

	private final List<GradientBucket> buckets = new ArrayList<>();

	private final List<GradientHook> hooks = new ArrayList<>();

	/** Number of buckets whose reduction has started in this step. */
	private int started;

	/**
	 * Last announced gradient. Whether autograd has accumulated it is known when the next
	 * one is announced or the backward pass is over.
	 */
	private @Nullable HookedGradient announced;

	/** Whether a backward pass of this step has computed a gradient. */
	private boolean computed;

	/** Whether this rank has computed a gradient twice in this step. */
	private boolean repeated;

	/** First failure of a hook, rethrown later since native code calls the hooks. */
	private @Nullable HookFailure hookFailure;

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
		completeAnnounced();
		if (this.computed) {
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
	 * start the next step in the same state. If a hook has failed, this rank cannot make
	 * them and aborts the group.
	 * @throws IllegalStateException on every rank, if a rank has computed a gradient
	 * twice: the first value was reduced while the second was added
	 */
	void synchronize() {
		long start = System.nanoTime();
		requireHooksSucceeded();
		completeAnnounced();
		if (this.repeated) {
			this.buckets.getLast().invalidate();
		}
		while (this.started < this.buckets.size()) {
			count(this.buckets.get(this.started++)).reduce(this.settings.scaling().op());
		}
		this.buckets.forEach(GradientBuckets::awaitReduction);
		this.buckets.forEach(GradientBucket::nextStep);
		this.started = 0;
		this.computed = false;
		this.waitedNanos += System.nanoTime() - start;
		requireValid();
	}

	/** Aborts the group if a hook has failed, since this rank omits reductions then. */
	private void requireHooksSucceeded() {
		HookFailure failure = this.hookFailure;
		if (failure == null) {
			return;
		}
		this.hookFailure = null;
		if (!(failure.cause() instanceof CollectiveException)) {
			this.place.abort("the gradient hook of a parameter of shape "
					+ ReplicaLayout.shape(failure.slot().parameter()) + " failed: " + failure.cause());
		}
		throw failure.cause();
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
			slots.forEach((slot) -> this.hooks.add(hook(new HookedGradient(bucket, slot))));
		}
	}

	private GradientHook hook(HookedGradient gradient) {
		return new GradientHook(gradient.slot().parameter(), () -> announce(gradient));
	}

	/** Action of a hook: the previously announced gradient is accumulated, if at all. */
	private void announce(HookedGradient gradient) {
		try {
			completeAnnounced();
			startComplete();
			gradient.slot().announce();
			this.announced = gradient;
		}
		catch (RuntimeException ex) {
			if (this.hookFailure == null) {
				this.hookFailure = new HookFailure(gradient.slot(), ex);
			}
		}
	}

	private void completeAnnounced() {
		HookedGradient last = this.announced;
		this.announced = null;
		if (last == null || !last.slot().isAccumulated()) {
			return;
		}
		this.computed = true;
		if (last.slot().complete()) {
			last.bucket().completeOne();
		}
		else {
			this.repeated = true;
		}
	}

	/**
	 * Starts complete buckets, except the last one. It holds the mark of invalid
	 * gradients and the piggybacked values, which are final after the backward pass.
	 */
	private void startComplete() {
		while (this.started < this.buckets.size() - 1 && this.buckets.get(this.started).isComplete()) {
			count(this.buckets.get(this.started++)).startReducing(this.settings.scaling().op());
		}
	}

	private GradientBucket count(GradientBucket bucket) {
		this.allReducedBytes += bucket.bytes();
		return bucket;
	}

	private static void awaitReduction(GradientBucket bucket) {
		Work<Void> reduction = bucket.reduction();
		if (reduction != null) {
			reduction.await();
		}
	}

	/**
	 * Whether no reduction writes to the bucket any more. If one does, the memory is not
	 * freed.
	 */
	private static boolean isIdle(GradientBucket bucket) {
		Work<Void> reduction = bucket.reduction();
		try {
			return reduction == null || reduction.await(CLOSING);
		}
		catch (RuntimeException ex) {
			return true;
		}
	}

	private static long bytes(Tensor parameter) {
		return parameter.numel() * Float.BYTES;
	}

	/** A gradient with a hook. */
	private record HookedGradient(GradientBucket bucket, GradientSlot slot) {

	}

	/** Failure of the hook of a gradient. */
	private record HookFailure(GradientSlot slot, RuntimeException cause) {

	}

}
