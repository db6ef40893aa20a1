package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.IntStream;

import io.tutti.DataType;
import io.tutti.ExitCode;
import io.tutti.ProcessGroup;
import io.tutti.Work;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.NoGradGuard;
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

	private final ProcessGroup group;

	private final GradientMemory place;

	private final DataParallelSettings settings;

	private final BooleanSupplier overlap;

	private final List<GradientSlot> slots;

	private final List<GradientHook> hooks;

	private final GradientStatus status;

	private final ReadinessOrder order;

	/** Memory of packed gradients by type, allocated once. */
	private final Map<DataType, MemorySegment> packed = new EnumMap<>(DataType.class);

	private List<GradientBucket> buckets = List.of();

	/** The bucket of each gradient. */
	private final GradientBucket[] bucketOf;

	/** Number of buckets whose reduction has started in this step. */
	private int started;

	/**
	 * Last announced gradient. Whether autograd has accumulated it is known when the next
	 * one is announced or the backward pass is over.
	 */
	private @Nullable HookedGradient announced;

	/** Whether backward passes accumulate without reductions. */
	private boolean accumulating;

	/** Whether a backward pass of this step has computed a gradient to be reduced. */
	private boolean computed;

	/** Whether this rank has gradients that the other ranks do not have yet. */
	private boolean pending;

	/** Whether any backward pass has computed a gradient. */
	private boolean everComputed;

	private boolean everSynchronized;

	/** Why the gradients of this rank may never be those of the others again. */
	private @Nullable Throwable broken;

	/** Whether this rank has computed a gradient twice in this step. */
	private boolean repeated;

	/** Whether a backward pass added to the gradients of the step before. */
	private boolean stale;

	/** A gradient that the program has replaced while it was reduced. */
	private @Nullable GradientSlot touched;

	/** First failure of a hook, rethrown later since native code calls the hooks. */
	private @Nullable HookFailure hookFailure;

	private long allReducedBytes;

	private long waitedNanos;

	/**
	 * Creates the buckets for the gradients of some parameters.
	 * @param group the ranks that reduce them
	 * @param place memory on the parameters' device; this object closes it
	 * @param order the order of the buckets
	 * @param overlap whether buckets are reduced during the backward pass
	 * @param piggybackedValues number of piggybacked values
	 */
	GradientBuckets(ProcessGroup group, GradientMemory place, List<Parameter> parameters, DataParallelSettings settings,
			ReadinessOrder order, BooleanSupplier overlap, int piggybackedValues) {
		this.group = group;
		this.place = place;
		this.settings = settings;
		this.order = order;
		this.overlap = overlap;
		this.slots = parameters.stream().map(this::slot).toList();
		this.slots.forEach(GradientSlot::drop);
		this.status = new GradientStatus(place, piggybackedValues, parameters.size());
		this.bucketOf = new GradientBucket[this.slots.size()];
		plan();
		this.hooks = IntStream.range(0, this.slots.size()).mapToObj(this::hook).toList();
	}

	private GradientSlot slot(Parameter parameter) {
		return new GradientSlot(parameter, TensorMemory.type(parameter.tensor()).orElseThrow(), this::isOfSeveral);
	}

	/** A gradient of two parameters is reduced once for each of them. */
	private boolean isOfSeveral(long identity) {
		return this.slots.stream().filter((slot) -> slot.has(identity)).count() > 1;
	}

	/** The piggybacked values. */
	MemorySegment piggybackedValues() {
		return this.status.piggybackedValues();
	}

	int count() {
		return (int) this.buckets.stream().filter((bucket) -> !bucket.slots().isEmpty()).count();
	}

	long allReducedBytes() {
		return this.allReducedBytes;
	}

	long waitedNanos() {
		return this.waitedNanos;
	}

	void zero() {
		requireUnbroken();
		completeAnnounced();
		if (this.computed && this.settings.overlap() != Overlap.NEVER) {
			throw new IllegalStateException(
					"zeroGradients() was called between a backward pass and synchronizeGradients(),"
							+ " when other ranks may already have some of the gradients: call synchronizeGradients() first,"
							+ " or disable overlap in the settings. If the backward pass failed, abort the group instead");
		}
		this.computed = false;
		this.pending = false;
		this.slots.forEach(GradientSlot::drop);
		piggybackedValues().fill((byte) 0);
	}

	/**
	 * Sets whether backward passes from now on accumulate without reductions.
	 * @throws IllegalStateException if a pass of this step may already be reduced
	 */
	void accumulate(boolean wanted) {
		completeAnnounced();
		if (wanted && this.accumulating) {
			throw new IllegalStateException("noSync() was called inside noSync(): close the first scope before");
		}
		if (wanted && this.computed && this.settings.overlap() != Overlap.NEVER) {
			throw new IllegalStateException("noSync() was called after a backward pass whose gradients are being"
					+ " reduced: make all backward passes of a step but the last inside noSync()");
		}
		this.accumulating = wanted;
	}

	/**
	 * Reduces the buckets that the backward pass has not started, on the calling thread,
	 * and waits for the others. The group's deadline applies to each reduction. Every
	 * rank makes the same reductions regardless of its backward passes, so that all ranks
	 * start the next step in the same state. A rank that cannot make them aborts the
	 * group.
	 * @param changes finds a change of the model, which aborts the group
	 */
	void synchronize(ModelChanges changes) {
		if (this.accumulating) {
			throw new IllegalStateException(
					"synchronizeGradients() was called inside noSync(): close the scope before the last backward pass");
		}
		requireUnbroken();
		long start = System.nanoTime();
		this.everSynchronized = true;
		completeAnnounced();
		try {
			requireHooksSucceeded();
			reduce();
			changes.find(this.slots, this.status).ifPresent((change) -> {
				throw new IllegalStateException(change);
			});
			if (this.order.learn(this.status)) {
				plan();
			}
		}
		catch (RuntimeException | Error ex) {
			this.broken = ex;
			abort(reason(ex));
			throw ex;
		}
		this.waitedNanos += System.nanoTime() - start;
	}

	private void requireUnbroken() {
		if (this.broken != null) {
			throw new IllegalStateException(
					"an earlier synchronizeGradients() failed, so that the gradients of this rank"
							+ " may be its own alone: close this DistributedDataParallel, wrap the model again in a group that works,"
							+ " and restore model and optimizer, since other ranks may have made the step",
					this.broken);
		}
	}

	private String reason(Throwable failure) {
		return bucketHookFailure()
			.orElseGet(() -> (failure instanceof IllegalStateException && failure.getMessage() != null)
					? failure.getMessage() : "the reduction of the gradients failed: " + failure);
	}

	private Optional<String> bucketHookFailure() {
		return this.buckets.stream().map(GradientBucket::hookFailure).filter(Objects::nonNull).findFirst();
	}

	private void reduce() {
		this.touched = first((slot) -> !slot.isUntouched());
		this.stale = first(GradientSlot::isStale) != null;
		this.status.write(this.repeated, this.stale, this.slots);
		while (this.started < this.buckets.size()) {
			this.allReducedBytes += this.buckets.get(this.started++).reduce(this.settings.scaling().op());
		}
		this.buckets.forEach(GradientBucket::finish);
		for (int index = 0; index < this.slots.size(); index++) {
			if (!this.status.isUsed(index)) {
				this.slots.get(index).drop();
			}
			this.slots.get(index).recordReduced();
		}
		this.started = 0;
		this.computed = false;
		this.pending = false;
	}

	private @Nullable GradientSlot first(Predicate<GradientSlot> condition) {
		return this.slots.stream().filter(condition).findFirst().orElse(null);
	}

	/** Fails if a hook has, since this rank omits reductions then. */
	private void requireHooksSucceeded() {
		HookFailure failure = this.hookFailure;
		if (failure == null) {
			return;
		}
		abort(bucketHookFailure()
			.orElseGet(() -> "the gradient hook of " + failure.slot().parameter() + " failed: " + failure.cause()));
		if (failure.cause() instanceof Error error) {
			throw error;
		}
		throw (RuntimeException) failure.cause();
	}

	private void abort(String reason) {
		this.group.abort(ExitCode.PEER_LOST, "rank " + this.group.rank() + ": " + reason);
	}

	/**
	 * Checks the step after {@link #synchronize}.
	 * @throws IllegalStateException on every rank, if a rank has computed a gradient
	 * twice or added to the sum of the step before, or if only some ranks added to the
	 * average of the step before; on this rank, if a gradient was replaced while it was
	 * reduced
	 */
	void requireValid() {
		GradientSlot changed = this.touched;
		this.touched = null;
		boolean first = this.repeated;
		boolean added = this.stale;
		this.repeated = false;
		this.stale = false;
		if (this.status.isRepeated() && this.settings.overlap() != Overlap.NEVER) {
			zero();
			throw new IllegalStateException((first ? "this rank" : "another rank")
					+ " made a second backward pass before synchronizeGradients(), while the gradients of the first were"
					+ " being reduced. All gradients are dropped now on every rank, and the next step can begin; to"
					+ " accumulate several backward passes, make all but the last inside noSync(), or disable overlap"
					+ " in the settings");
		}
		if (!sums() && this.status.isStaleOnSomeRanks()) {
			zero();
			throw new IllegalStateException(
					"some ranks added to the gradients of the step before, and others had dropped" + " them"
							+ (added ? "; this rank added" : "; this rank had dropped them")
							+ ". All gradients are dropped now on every rank, and the next step can begin; call zeroGradients()"
							+ " on every rank or on none");
		}
		if (sums() && this.status.isStale()) {
			zero();
			throw new IllegalStateException((added ? "this rank" : "a rank")
					+ " added to the sum of the step before, which the ranks would sum again. All gradients are dropped now"
					+ " on every rank, and the next step can begin; call zeroGradients() before the backward passes of"
					+ " each step");
		}
		if (changed != null) {
			throw new IllegalStateException("the gradient of " + changed.parameter()
					+ " was replaced or dropped between"
					+ " the backward pass and synchronizeGradients(), while it was being reduced: change gradients after"
					+ " synchronizeGradients()");
		}
	}

	/** Whether there were backward passes, but no {@link #synchronize}. */
	boolean neverSynchronized() {
		completeAnnounced();
		return this.everComputed && !this.everSynchronized;
	}

	/** Whether this rank has gradients that are not synchronized yet. */
	boolean isPending() {
		completeAnnounced();
		return this.pending && first(GradientSlot::contributes) != null;
	}

	/**
	 * The 2-norm of all gradients as one vector, computed in float64 on this rank.
	 */
	double norm() {
		double squares = 0;
		try (PointerScope _ = new PointerScope(); NoGradGuard _ = new NoGradGuard()) {
			for (GradientSlot slot : this.slots) {
				squares += slot.squaredNorm();
			}
		}
		return Math.sqrt(squares);
	}

	/** Multiplies all gradients by a factor. */
	void scale(double factor) {
		try (PointerScope _ = new PointerScope(); NoGradGuard _ = new NoGradGuard()) {
			this.slots.forEach((slot) -> slot.scale(factor));
		}
	}

	/** The first parameter whose gradient is not finite. */
	Optional<Parameter> firstNotFinite() {
		try (PointerScope _ = new PointerScope(); NoGradGuard _ = new NoGradGuard()) {
			return Optional.ofNullable(first((slot) -> !Double.isFinite(slot.squaredNorm())))
				.map(GradientSlot::parameter);
		}
	}

	/** Whether the ranks' gradients are summed, so that equal parts would multiply. */
	private boolean sums() {
		return this.settings.scaling() == GradientScaling.SUM;
	}

	@Override
	public void close() {
		this.hooks.forEach(GradientHook::remove);
		this.slots.forEach(GradientSlot::drop);
		if (this.buckets.stream().allMatch(GradientBuckets::isIdle)) {
			this.slots.forEach(GradientSlot::release);
			this.slots.forEach(GradientSlot::close);
			this.buckets.forEach(GradientBucket::close);
			this.place.close();
		}
	}

	/** Makes buckets in the current order. The last one also reduces the status. */
	private void plan() {
		this.buckets.forEach(GradientBucket::close);
		List<List<Integer>> plan = this.order.plan(this.slots, this.settings.bucketBytes()).buckets();
		List<GradientBucket> planned = new ArrayList<>();
		Map<DataType, Long> filled = new EnumMap<>(DataType.class);
		for (List<Integer> members : plan) {
			List<GradientSlot> inside = members.stream().map(this.slots::get).toList();
			boolean last = members == plan.getLast() && reducesStatus(inside);
			GradientBucket bucket = new GradientBucket(this.place, inside, memory(inside, filled), this.settings.hook(),
					last ? this.status : null);
			members.forEach((index) -> this.bucketOf[index] = bucket);
			planned.add(bucket);
		}
		if (!reducesStatus(planned.getLast().slots())) {
			planned.add(new GradientBucket(this.place, List.of(), null, null, this.status));
		}
		this.buckets = planned;
	}

	/** Whether the status can be reduced with these gradients. */
	private boolean reducesStatus(List<GradientSlot> inside) {
		return inside.getFirst().type() == DataType.FLOAT32 && this.settings.hook() == null;
	}

	/** Memory of a bucket, if gradients are packed. */
	private @Nullable MemorySegment memory(List<GradientSlot> inside, Map<DataType, Long> filled) {
		if (!this.place.prefersPacked() && (this.settings.hook() == null || inside.size() == 1)) {
			return null;
		}
		DataType type = inside.getFirst().type();
		MemorySegment all = this.packed.computeIfAbsent(type, (_) -> this.place.allocate(bytes(this.slots, type)));
		long bytes = bytes(inside, type);
		return all.asSlice(filled.merge(type, bytes, Long::sum) - bytes, bytes);
	}

	private static long bytes(List<GradientSlot> slots, DataType type) {
		return slots.stream().filter((slot) -> slot.type() == type).mapToLong(GradientSlot::bytes).sum();
	}

	private GradientHook hook(int index) {
		HookedGradient gradient = new HookedGradient(index, this.slots.get(index));
		return new GradientHook(gradient.slot().parameter().tensor(), () -> announce(gradient));
	}

	/** Action of a hook: the previously announced gradient is accumulated, if at all. */
	private void announce(HookedGradient gradient) {
		try {
			completeAnnounced();
			gradient.slot().announce();
			this.announced = gradient;
		}
		catch (RuntimeException | Error ex) {
			fail(gradient.slot(), ex);
		}
	}

	private void fail(GradientSlot slot, Throwable cause) {
		if (this.hookFailure == null) {
			this.hookFailure = new HookFailure(slot, cause);
		}
	}

	private void completeAnnounced() {
		HookedGradient last = this.announced;
		this.announced = null;
		if (last == null) {
			return;
		}
		if (!last.slot().isAccumulated()) {
			last.slot().notAccumulated();
			return;
		}
		this.everComputed = true;
		this.pending = true;
		last.slot().accumulated();
		if (this.accumulating) {
			return;
		}
		this.computed = true;
		if (!last.slot().complete()) {
			this.repeated = true;
			return;
		}
		this.order.completed(last.index());
		this.bucketOf[last.index()].completeOne();
		try {
			startComplete();
		}
		catch (RuntimeException | Error ex) {
			fail(last.slot(), ex);
		}
	}

	/**
	 * Starts complete buckets, except the last one. It holds the status, which is known
	 * after the backward pass.
	 */
	private void startComplete() {
		while (this.overlap.getAsBoolean() && this.started < this.buckets.size() - 1
				&& this.buckets.get(this.started).isComplete()) {
			this.allReducedBytes += this.buckets.get(this.started++).startReducing(this.settings.scaling().op());
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

	/** A gradient with a hook. */
	private record HookedGradient(int index, GradientSlot slot) {

	}

	/** Failure of the hook of a gradient. */
	private record HookFailure(GradientSlot slot, Throwable cause) {

	}

}
