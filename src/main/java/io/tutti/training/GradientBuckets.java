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
 * All buckets of a model, reduced strictly in their order on every rank, whatever the
 * order in which a rank's gradients are completed.
 */
final class GradientBuckets implements AutoCloseable {

	/** How long a reduction that a broken group left behind may hold its memory. */
	private static final long CLOSE_SECONDS = 30;

	private final GradientMemory place;

	private final DataParallelSettings settings;

	private final List<GradientBucket> buckets = new ArrayList<>();

	private final List<GradientHook> hooks = new ArrayList<>();

	/** Buckets whose reduction has begun in this step. */
	private int started;

	/**
	 * Bucket of the gradient that was announced last and is being added: complete when
	 * the next one is announced or the backward pass is over.
	 */
	private @Nullable GradientBucket adding;

	/** What went wrong in a hook, to be thrown where Java may throw. */
	private @Nullable RuntimeException hookFailure;

	private long allReducedBytes;

	private long waitedNanos;

	/**
	 * Buckets for some parameters' gradients.
	 * @param place memory on the parameters' device, from now on the buckets'
	 * @param passengers how many numbers travel behind the last gradients
	 */
	GradientBuckets(GradientMemory place, List<Tensor> parameters, DataParallelSettings settings, int passengers) {
		this.place = place;
		this.settings = settings;
		BucketPlan plan = BucketPlan.of(parameters.stream().map(GradientBuckets::bytes).toList(),
				settings.bucketBytes());
		for (List<Integer> members : plan.buckets()) {
			long behind = (members == plan.buckets().getLast()) ? passengers * (long) Float.BYTES : 0;
			add(members.stream().map(parameters::get).toList(), behind);
		}
	}

	/** The numbers that travel behind the last gradients. */
	MemorySegment passengers() {
		return this.buckets.getLast().passengers();
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
		this.buckets.forEach(GradientBucket::zero);
	}

	/**
	 * Reduces what the backward pass has not started, on this thread, and waits for what
	 * it has. Each reduction ends by the group's own deadline.
	 */
	void synchronize() {
		long start = System.nanoTime();
		RuntimeException failure = this.hookFailure;
		if (failure != null) {
			this.hookFailure = null;
			throw failure;
		}
		while (this.started < this.buckets.size()) {
			count(this.buckets.get(this.started++)).reduce(this.settings.scaling().op());
		}
		this.buckets.forEach(GradientBuckets::awaitReduction);
		this.buckets.forEach(GradientBucket::nextStep);
		this.started = 0;
		this.adding = null;
		this.waitedNanos += System.nanoTime() - start;
	}

	@Override
	public void close() {
		this.hooks.forEach(GradientHook::remove);
		this.buckets.forEach(GradientBucket::detach);
		if (this.buckets.stream().allMatch(GradientBuckets::isIdle)) {
			this.place.close();
		}
	}

	private void add(List<Tensor> parameters, long behind) {
		long bytes = parameters.stream().mapToLong(GradientBuckets::bytes).sum() + behind;
		MemorySegment memory = this.place.allocate(bytes);
		List<GradientSlot> slots = new ArrayList<>();
		long offset = 0;
		for (Tensor parameter : parameters) {
			slots.add(new GradientSlot(parameter, memory.asSlice(offset, bytes(parameter))));
			offset += bytes(parameter);
		}
		GradientBucket bucket = new GradientBucket(this.place, memory, slots, memory.asSlice(offset));
		bucket.zero();
		this.buckets.add(bucket);
		if (this.settings.overlap()) {
			slots.forEach((slot) -> this.hooks.add(new GradientHook(slot.parameter(), () -> announced(bucket, slot))));
		}
	}

	/** A hook's action: the gradient announced before this one has been added. */
	private void announced(GradientBucket bucket, GradientSlot slot) {
		try {
			if (!slot.announce()) {
				throw new IllegalStateException("a second backward pass came before synchronizeGradients(); "
						+ "to add up several, switch overlap off in the settings");
			}
			if (this.adding != null) {
				this.adding.completeOne();
				startComplete();
			}
			this.adding = bucket;
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

	/** Whether nobody writes the bucket any more; if somebody does, its memory stays. */
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
