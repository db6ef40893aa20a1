package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import io.tutti.ProcessGroup;
import io.tutti.engine.device.DeviceCollectives;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the replicas of a model identical on all ranks by all-reducing their gradients.
 * <p>
 * The constructor broadcasts rank 0's parameters and buffers and moves the gradients into
 * a few flat buckets of native memory. A training step is then
 *
 * <pre>
 * replicas.zeroGradients();
 * loss.backward();
 * replicas.synchronizeGradients();
 * optimizer.step();
 * </pre>
 *
 * Buckets are reduced in place, in the same order on every rank, and by default while the
 * backward pass is still computing the gradients of earlier layers. A rank without
 * samples in a step omits {@code backward()} and contributes zeros. A parameter that a
 * rank's loss does not depend on contributes zeros too. Buffers are broadcast only by the
 * constructor: later changes, such as the running statistics of batch normalisation, stay
 * local to the rank.
 * <p>
 * Parameters must be float32, all in main memory or all on one GPU. Parameters that
 * require no gradient or have no elements are not reduced. A tensor that is registered
 * under several names is one parameter with one gradient; libtorch's {@code parameters()}
 * lists it once per name, and an optimizer that is given that list updates it once per
 * entry. The buckets of a model on a GPU are in device memory and are reduced in place;
 * the initial broadcast goes through main memory. Parameters of the model must not be
 * added, removed or replaced. Close this object before the model runs a backward pass on
 * its own again: until then this object owns the memory of the gradients, and its
 * autograd hooks stay registered. Not thread-safe: use one thread at a time. A
 * {@link io.tutti.CollectiveException} means that the group is broken.
 * <p>
 * Creating a model loads libtorch. Create the group first, or call
 * {@link io.tutti.engine.javacpp.NativeLibraryPreparation#prepare()}, so that ranks that
 * start together do not unpack libtorch at the same time.
 */
public final class DistributedDataParallel implements AutoCloseable {

	private final TensorVector parameters;

	private final List<Tensor> frozen;

	private final long parameterCount;

	private final GradientBuckets buckets;

	private boolean closed;

	/**
	 * Wraps a model with {@link DataParallelSettings#defaults()}.
	 * @see #DistributedDataParallel(ProcessGroup, Module, DataParallelSettings)
	 */
	public DistributedDataParallel(ProcessGroup group, Module module) {
		this(group, module, DataParallelSettings.defaults());
	}

	/**
	 * Wraps a model. A collective call: every rank wraps its replica at the same position
	 * in the group's order of collectives.
	 * @param group the ranks that train together; must outlive this object
	 * @param module the model; the caller keeps ownership
	 * @param settings the same on every rank
	 * @throws IllegalArgumentException if no parameter requires a gradient and has
	 * elements, or if a parameter is not float32 in main memory or is computed from
	 * another tensor
	 * @throws ReplicaMismatchException if the ranks' models or settings differ
	 */
	public DistributedDataParallel(ProcessGroup group, Module module, DataParallelSettings settings) {
		this(group, module, settings, null, 0);
	}

	/**
	 * Wraps a model that may be on a GPU. A collective call.
	 * @param onDevice device collectives of the group, for the gradients of a model on a
	 * GPU
	 * @throws IllegalArgumentException if no parameter requires a gradient and has
	 * elements, if a parameter is not float32 or is computed from another tensor, or if
	 * parameters are on several devices
	 * @throws ReplicaMismatchException if the ranks' models or settings differ
	 */
	public DistributedDataParallel(ProcessGroup group, Module module, DataParallelSettings settings,
			DeviceCollectives onDevice) {
		this(group, module, settings, onDevice, 0);
	}

	/**
	 * Wraps a model with a few piggybacked float32 values in the last bucket. They are
	 * reduced with the gradients and need no separate all-reduce.
	 */
	DistributedDataParallel(ProcessGroup group, Module module, DataParallelSettings settings,
			@Nullable DeviceCollectives onDevice, int piggybackedValues) {
		this(group, module, settings, piggybackedValues,
				(first) -> ParameterPlacement.of(first).memory(group, onDevice));
	}

	/**
	 * @param memory creates the gradient memory, given the first parameter that requires
	 * a gradient
	 */
	DistributedDataParallel(ProcessGroup group, Module module, DataParallelSettings settings, int piggybackedValues,
			Function<Tensor, GradientMemory> memory) {
		this.parameters = module.parameters();
		this.parameters.retainReference();
		List<Tensor> distinct = TensorIdentity.distinct(tensors(this.parameters));
		List<Tensor> learning = learning(distinct);
		this.frozen = distinct.stream().filter((parameter) -> !parameter.requires_grad()).toList();
		GradientMemory place = memory.apply(learning.getFirst());
		this.parameterCount = learning.stream().mapToLong(Tensor::numel).sum();
		try (TensorVector moduleBuffers = module.buffers()) {
			List<Tensor> all = new ArrayList<>(tensors(this.parameters));
			all.addAll(tensors(moduleBuffers));
			ReplicaLayout.requireSame(group, all, settings);
			TensorIdentity.distinct(all).forEach((tensor) -> TensorBroadcast.fromRankZero(group, tensor));
		}
		this.buckets = new GradientBuckets(place, learning, settings, piggybackedValues);
	}

	/**
	 * Sets all gradients to zero at the start of a step. {@code Optimizer.zero_grad()}
	 * works too, but each gradient is then copied into its bucket again.
	 * @throws IllegalStateException if overlap is on and the gradients of a backward pass
	 * are not synchronized yet: other ranks may already have them
	 */
	public void zeroGradients() {
		requireOpen();
		this.buckets.zero();
	}

	/**
	 * Reduces the remaining buckets and waits until every gradient is the combination of
	 * all ranks' gradients. A collective call: every rank makes it once per step, after
	 * its backward pass, if any.
	 * @throws IllegalStateException if overlap is on and a rank made more than one
	 * backward pass since the last call. Every rank throws it, with all gradients zero
	 * and ready for the next step. Also thrown, on this rank only and before it joins the
	 * call, if a parameter requires a gradient that required none when it was wrapped
	 */
	public void synchronizeGradients() {
		requireOpen();
		this.frozen.forEach(DistributedDataParallel::requireFrozen);
		this.buckets.synchronize();
	}

	/**
	 * The piggybacked float32 values: written after {@link #zeroGradients()} and read
	 * after {@link #synchronizeGradients()}.
	 */
	MemorySegment piggybackedValues() {
		return this.buckets.piggybackedValues();
	}

	/** Number of values in the parameters that require a gradient. */
	public long parameterCount() {
		return this.parameterCount;
	}

	/** Number of gradient buckets. */
	public int bucketCount() {
		return this.buckets.count();
	}

	/** Bytes of buckets that this rank has passed to all-reduces. */
	public long allReducedBytes() {
		return this.buckets.allReducedBytes();
	}

	/**
	 * Total nanoseconds spent in {@link #synchronizeGradients()}: communication that did
	 * not overlap with a backward pass.
	 */
	public long waitedNanos() {
		return this.buckets.waitedNanos();
	}

	/**
	 * Frees the memory of the buckets. The parameters keep their values and have no
	 * gradients. Idempotent.
	 */
	@Override
	public void close() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		this.buckets.close();
		this.parameters.releaseReference();
	}

	private void requireOpen() {
		if (this.closed) {
			throw new IllegalStateException("this DistributedDataParallel is closed");
		}
	}

	/** The parameters that require a gradient and have elements. */
	private static List<Tensor> learning(List<Tensor> parameters) {
		List<Tensor> learning = parameters.stream()
			.filter((parameter) -> parameter.requires_grad() && parameter.numel() > 0)
			.toList();
		if (learning.isEmpty()) {
			throw new IllegalArgumentException("the model has no parameter that requires a gradient and has elements");
		}
		ParameterPlacement.requireOne(learning);
		learning.forEach(DistributedDataParallel::requireLeaf);
		return learning;
	}

	private static void requireLeaf(Tensor parameter) {
		if (!parameter.is_leaf()) {
			throw new IllegalArgumentException("a parameter of shape " + ReplicaLayout.shape(parameter)
					+ " is computed from another tensor and has no gradient of its own: register the tensor that it"
					+ " is computed from, or detach it");
		}
	}

	/** The gradient of such a parameter would not be reduced. */
	private static void requireFrozen(Tensor parameter) {
		if (parameter.requires_grad()) {
			throw new IllegalStateException("a parameter of shape " + ReplicaLayout.shape(parameter)
					+ " that required no gradient when it was wrapped requires one now: close this"
					+ " DistributedDataParallel and wrap the model again, or freeze the parameter");
		}
	}

	/** The tensors, valid as long as the vector. */
	private static List<Tensor> tensors(TensorVector vector) {
		return List.of(vector.get());
	}

}
